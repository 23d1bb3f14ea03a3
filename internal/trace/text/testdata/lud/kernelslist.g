kernel-8.traceg
