package ptx

// controlRows: control flow, barriers, fences, the stack and miscellaneous.
const controlRows = `
bra{.uni}                                t:label ; 1.0
brx.idx{.uni}                            i:u32, list:table ; 6.0 sm_30
call{.uni}                               ret:list, f:func{, params:list}{, flist:table} ; 1.0
call{.uni}                               f:func{, params:list}{, flist:table} ; 1.0
ret{.uni}                                ; 1.0
exit                                     ; 1.0

bar.sync                                 a:u32{, b:u32} ; 1.0
bar.cta.sync                             a:u32{, b:u32} ; 7.8
bar{.cta}.arrive                         a:u32, b:u32 ; 2.0
bar{.cta}.red.popc.u32                   d:T, a:u32{, b:u32}, !c:pred ; 2.0 sm_20
bar{.cta}.red.{and,or}.pred              d:T, a:u32{, b:u32}, !c:pred ; 2.0 sm_20
barrier{.cta}.sync{.aligned}             a:u32{, b:u32} ; 6.0 sm_30
barrier{.cta}.arrive{.aligned}           a:u32, b:u32 ; 6.0 sm_30
barrier{.cta}.red.popc{.aligned}.u32     d:T, a:u32{, b:u32}, !c:pred ; 6.0 sm_30
barrier{.cta}.red.{and,or}{.aligned}.pred  d:T, a:u32{, b:u32}, !c:pred ; 6.0 sm_30
bar.warp.sync                            mask:b32 ; 6.0 sm_30
barrier.cluster.arrive{.release,.relaxed}{.aligned}  ; 7.8 sm_90
barrier.cluster.wait{.acquire}{.aligned} ; 7.8 sm_90
griddepcontrol.{launch_dependents,wait}  ; 7.8 sm_90

membar.{cta,gl,sys}                      ; 1.4
membar.proxy.{alias,async}               ; 7.5 sm_70
membar.proxy.async.{global,shared::cta,shared::cluster}  ; 8.0 sm_90
fence{.sc,.acq_rel,.acquire,.release}.scope  ; 6.0 sm_70
fence.acquire.sync_restrict::shared::cluster.cluster  ; 8.6 sm_90
fence.release.sync_restrict::shared::cta.cluster  ; 8.6 sm_90
fence.mbarrier_init.release.cluster      ; 8.0 sm_90
fence.proxy.{alias,async}  ; 7.5 sm_70
fence.proxy.async.{global,shared::cta,shared::cluster}  ; 8.0 sm_90
fence.proxy.tensormap::generic.release.scope  ; 8.3 sm_90
fence.proxy.tensormap::generic.acquire.scope  [a], size:imm ; 8.3 sm_90
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster  ; 8.6 sm_90
fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster  ; 8.6 sm_90

alloca.{u32,u64}                         d:T, size:T{, align:imm} ; 7.3 sm_52
stacksave.{u32,u64}              d:T ; 7.3 sm_52
stackrestore.{u32,u64}           a:T ; 7.3 sm_52
brkpt                                    ; 1.0
trap                                     ; 1.0
nanosleep.u32                            t:u32 ; 6.3 sm_70
pmevent                                  a:imm ; 1.4
pmevent.mask                             a:imm ; 3.0 sm_20
setmaxnreg.{inc,dec}.sync.aligned.u32    n:imm ; 8.0 sm_90
clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes{.multicast::cluster::all}.b128  [a], [mbar] ; 8.6 sm_100
clusterlaunchcontrol.query_cancel.is_canceled.pred.b128  d:T, a:T2 ; 8.6 sm_100
clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128  d:{T}v_, a:T2 ; 8.6 sm_100
clusterlaunchcontrol.query_cancel.{get_first_ctaid::x,get_first_ctaid::y,get_first_ctaid::z}.b32.b128  d:T, a:T2 ; 8.6 sm_100
`
