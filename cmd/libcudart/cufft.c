// The functions of cuFFT that are refused: callbacks, several GPUs, and properties of plans.
extern int heddleFftMissing(char *name);

#define MISSING(name) \
  int name(void) { return heddleFftMissing(#name); }

MISSING(cufftXtSetCallback)
MISSING(cufftXtClearCallback)
MISSING(cufftXtSetCallbackSharedSize)
MISSING(cufftXtSetGPUs)
MISSING(cufftSetPlanPropertyInt64)
MISSING(cufftGetPlanPropertyInt64)
MISSING(cufftResetPlanProperty)
