// The functions of cuFFT that are refused: callbacks, several GPUs, and properties of plans.
extern int heddleFftMissing(char *name);

#define MISSING(name) \
  int name(void) { return heddleFftMissing(#name); }

MISSING(cufftXtSetCallback)
MISSING(cufftXtClearCallback)
MISSING(cufftXtSetCallbackSharedSize)
MISSING(cufftXtSetGPUs)
MISSING(cufftXtMalloc)
MISSING(cufftXtMemcpy)
MISSING(cufftXtFree)
MISSING(cufftXtExecDescriptorC2C)
MISSING(cufftXtExecDescriptorZ2Z)
MISSING(cufftXtExecDescriptorR2C)
MISSING(cufftXtExecDescriptorC2R)
MISSING(cufftXtExecDescriptorD2Z)
MISSING(cufftXtExecDescriptorZ2D)
MISSING(cufftXtExecDescriptor)
MISSING(cufftXtQueryPlan)
MISSING(cufftXtSetWorkArea)
MISSING(cufftXtSetJITCallback)
MISSING(cufftSetPlanPropertyInt64)
MISSING(cufftGetPlanPropertyInt64)
MISSING(cufftResetPlanProperty)
