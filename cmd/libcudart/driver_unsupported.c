// Functions of the driver that are not there: each returns an error and says so
// once.
#define UNSUPPORTED(name) \
  int name(void) { return heddleNotInDriver(#name); }

extern int heddleNotInDriver(char *name);

// The old forms with 32-bit addresses.
UNSUPPORTED(cuMemcpyDtoDAsync)

// Sharing with graphics and with other processes.
UNSUPPORTED(cuGraphicsMapResources)
UNSUPPORTED(cuGraphicsResourceGetMappedMipmappedArray)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer)
UNSUPPORTED(cuGraphicsResourceGetMappedPointer_v2)
UNSUPPORTED(cuGraphicsResourceSetMapFlags)
UNSUPPORTED(cuGraphicsResourceSetMapFlags_v2)
UNSUPPORTED(cuGraphicsSubResourceGetMappedArray)
UNSUPPORTED(cuGraphicsUnmapResources)
UNSUPPORTED(cuGraphicsUnregisterResource)
UNSUPPORTED(cuImportExternalMemory)
UNSUPPORTED(cuImportExternalSemaphore)
UNSUPPORTED(cuIpcCloseMemHandle)
UNSUPPORTED(cuIpcGetEventHandle)
UNSUPPORTED(cuIpcGetMemHandle)
UNSUPPORTED(cuIpcOpenEventHandle)
UNSUPPORTED(cuIpcOpenMemHandle)
UNSUPPORTED(cuIpcOpenMemHandle_v2)

// Memory that is mapped by hand, and on several devices.
UNSUPPORTED(cuMemAddressFree)
UNSUPPORTED(cuMemAddressReserve)
UNSUPPORTED(cuMemCreate)
UNSUPPORTED(cuMemExportToShareableHandle)
UNSUPPORTED(cuMemGetAccess)
UNSUPPORTED(cuMemGetAllocationGranularity)
UNSUPPORTED(cuMemImportFromShareableHandle)
UNSUPPORTED(cuMemMap)
UNSUPPORTED(cuMemRelease)
UNSUPPORTED(cuMemRetainAllocationHandle)
UNSUPPORTED(cuMemSetAccess)
UNSUPPORTED(cuMemUnmap)
UNSUPPORTED(cuDeviceGetP2PAttribute)
UNSUPPORTED(cuLaunchCooperativeKernelMultiDevice)

// Others.
UNSUPPORTED(cuDeviceGetLuid)
UNSUPPORTED(cuMemRangeGetAttribute)
UNSUPPORTED(cuMemRangeGetAttributes)
UNSUPPORTED(cuOccupancyMaxActiveClusters)
UNSUPPORTED(cuOccupancyMaxPotentialClusterSize)
UNSUPPORTED(cuStreamWaitValue32)
UNSUPPORTED(cuStreamWaitValue64)
UNSUPPORTED(cuStreamWriteValue32)
UNSUPPORTED(cuStreamWriteValue64)
UNSUPPORTED(cuTensorMapEncodeIm2col)
UNSUPPORTED(cuTensorMapEncodeTiled)
