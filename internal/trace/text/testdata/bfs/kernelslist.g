kernel-15.traceg.xz
