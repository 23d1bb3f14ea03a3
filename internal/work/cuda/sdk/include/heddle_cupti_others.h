// CUPTI: records that are never made here, and what describes them. cupti_activity.h includes this file.
typedef enum {
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_INVALID = 0,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_NONE = 1,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_INST_FETCH = 2,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_EXEC_DEPENDENCY = 3,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_MEMORY_DEPENDENCY = 4,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_TEXTURE = 5,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_SYNC = 6,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_CONSTANT_MEMORY_DEPENDENCY = 7,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_PIPE_BUSY = 8,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_MEMORY_THROTTLE = 9,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_NOT_SELECTED = 10,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_OTHER = 11,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_SLEEPING = 12,
  CUPTI_ACTIVITY_PC_SAMPLING_STALL_FORCE_INT = 0x7fffffff
} CUpti_ActivityPCSamplingStallReason;

typedef enum {
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_INVALID = 0,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_MIN = 1,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_LOW = 2,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_MID = 3,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_HIGH = 4,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_MAX = 5,
  CUPTI_ACTIVITY_PC_SAMPLING_PERIOD_FORCE_INT = 0x7fffffff
} CUpti_ActivityPCSamplingPeriod;

typedef enum {
  CUPTI_ACTIVITY_PREEMPTION_KIND_UNKNOWN = 0,
  CUPTI_ACTIVITY_PREEMPTION_KIND_SAVE = 1,
  CUPTI_ACTIVITY_PREEMPTION_KIND_RESTORE = 2,
  CUPTI_ACTIVITY_PREEMPTION_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityPreemptionKind;

typedef enum {
  CUPTI_ACTIVITY_ENVIRONMENT_UNKNOWN = 0,
  CUPTI_ACTIVITY_ENVIRONMENT_SPEED = 1,
  CUPTI_ACTIVITY_ENVIRONMENT_TEMPERATURE = 2,
  CUPTI_ACTIVITY_ENVIRONMENT_POWER = 3,
  CUPTI_ACTIVITY_ENVIRONMENT_COOLING = 4,
  CUPTI_ACTIVITY_ENVIRONMENT_COUNT = 5,
  CUPTI_ACTIVITY_ENVIRONMENT_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityEnvironmentKind;

typedef enum {
  CUPTI_CLOCKS_THROTTLE_REASON_GPU_IDLE = 1,
  CUPTI_CLOCKS_THROTTLE_REASON_USER_DEFINED_CLOCKS = 2,
  CUPTI_CLOCKS_THROTTLE_REASON_SW_POWER_CAP = 4,
  CUPTI_CLOCKS_THROTTLE_REASON_HW_SLOWDOWN = 8,
  CUPTI_CLOCKS_THROTTLE_REASON_UNKNOWN = 2147483648,
  CUPTI_CLOCKS_THROTTLE_REASON_UNSUPPORTED = 1073741824,
  CUPTI_CLOCKS_THROTTLE_REASON_NONE = 0,
  CUPTI_CLOCKS_THROTTLE_REASON_FORCE_INT = 0x7fffffff
} CUpti_EnvironmentClocksThrottleReason;

typedef enum {
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_UNKNOWN = 0,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE = 1,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES = 2,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_COUNT = 3,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityUnifiedMemoryCounterScope;

typedef enum {
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN = 0,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD = 1,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH = 2,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT = 3,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT = 4,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING = 5,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING = 6,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP = 7,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD = 8,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT = 9,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityUnifiedMemoryCounterKind;

typedef enum {
  CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_UNKNOWN = 0,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_READ = 1,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE = 2,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_ATOMIC = 3,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_PREFETCH = 4
} CUpti_ActivityUnifiedMemoryAccessType;

typedef enum {
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_UNKNOWN = 0,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER = 1,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE = 2,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH = 3,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION = 4,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_ACCESS_COUNTERS = 5
} CUpti_ActivityUnifiedMemoryMigrationCause;

typedef enum {
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_UNKNOWN = 0,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_COHERENCE = 1,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_THRASHING = 2,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_POLICY = 3,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_OUT_OF_MEMORY = 4,
  CUPTI_ACTIVITY_UNIFIED_MEMORY_REMOTE_MAP_CAUSE_EVICTION = 5
} CUpti_ActivityUnifiedMemoryRemoteMapCause;

typedef enum {
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_UNKNOWN = 0,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_FP_32 = 1,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_FP_64 = 2,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_INTEGER = 3,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_BIT_CONVERSION = 4,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_CONTROL_FLOW = 5,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_GLOBAL = 6,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_SHARED = 7,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_LOCAL = 8,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_GENERIC = 9,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_SURFACE = 10,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_CONSTANT = 11,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_TEXTURE = 12,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_GLOBAL_ATOMIC = 13,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_SHARED_ATOMIC = 14,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_SURFACE_ATOMIC = 15,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_INTER_THREAD_COMMUNICATION = 16,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_BARRIER = 17,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_MISCELLANEOUS = 18,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_FP_16 = 19,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_UNIFORM = 20,
  CUPTI_ACTIVITY_INSTRUCTION_CLASS_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityInstructionClass;

typedef enum {
  CUPTI_LINK_FLAG_INVALID = 0,
  CUPTI_LINK_FLAG_PEER_ACCESS = 2,
  CUPTI_LINK_FLAG_SYSMEM_ACCESS = 4,
  CUPTI_LINK_FLAG_PEER_ATOMICS = 8,
  CUPTI_LINK_FLAG_SYSMEM_ATOMICS = 16,
  CUPTI_LINK_FLAG_FORCE_INT = 0x7fffffff
} CUpti_LinkFlag;

typedef enum {
  CUPTI_NVTX_EXT_PAYLOAD_TYPE_UNKNOWN = 0,
  CUPTI_NVTX_EXT_PAYLOAD_TYPE_SCHEMA = 1,
  CUPTI_NVTX_EXT_PAYLOAD_TYPE_ENUM = 2,
  CUPTI_NVTX_EXT_PAYLOAD_TYPE_FORCE_INT = 0x7fffffff
} CUpti_NvtxExtPayloadType;

typedef enum {
  CUPTI_OPENACC_EVENT_KIND_INVALID = 0,
  CUPTI_OPENACC_EVENT_KIND_DEVICE_INIT = 1,
  CUPTI_OPENACC_EVENT_KIND_DEVICE_SHUTDOWN = 2,
  CUPTI_OPENACC_EVENT_KIND_RUNTIME_SHUTDOWN = 3,
  CUPTI_OPENACC_EVENT_KIND_ENQUEUE_LAUNCH = 4,
  CUPTI_OPENACC_EVENT_KIND_ENQUEUE_UPLOAD = 5,
  CUPTI_OPENACC_EVENT_KIND_ENQUEUE_DOWNLOAD = 6,
  CUPTI_OPENACC_EVENT_KIND_WAIT = 7,
  CUPTI_OPENACC_EVENT_KIND_IMPLICIT_WAIT = 8,
  CUPTI_OPENACC_EVENT_KIND_COMPUTE_CONSTRUCT = 9,
  CUPTI_OPENACC_EVENT_KIND_UPDATE = 10,
  CUPTI_OPENACC_EVENT_KIND_ENTER_DATA = 11,
  CUPTI_OPENACC_EVENT_KIND_EXIT_DATA = 12,
  CUPTI_OPENACC_EVENT_KIND_CREATE = 13,
  CUPTI_OPENACC_EVENT_KIND_DELETE = 14,
  CUPTI_OPENACC_EVENT_KIND_ALLOC = 15,
  CUPTI_OPENACC_EVENT_KIND_FREE = 16,
  CUPTI_OPENACC_EVENT_KIND_FORCE_INT = 0x7fffffff
} CUpti_OpenAccEventKind;

typedef enum {
  CUPTI_OPENACC_CONSTRUCT_KIND_UNKNOWN = 0,
  CUPTI_OPENACC_CONSTRUCT_KIND_PARALLEL = 1,
  CUPTI_OPENACC_CONSTRUCT_KIND_KERNELS = 2,
  CUPTI_OPENACC_CONSTRUCT_KIND_LOOP = 3,
  CUPTI_OPENACC_CONSTRUCT_KIND_DATA = 4,
  CUPTI_OPENACC_CONSTRUCT_KIND_ENTER_DATA = 5,
  CUPTI_OPENACC_CONSTRUCT_KIND_EXIT_DATA = 6,
  CUPTI_OPENACC_CONSTRUCT_KIND_HOST_DATA = 7,
  CUPTI_OPENACC_CONSTRUCT_KIND_ATOMIC = 8,
  CUPTI_OPENACC_CONSTRUCT_KIND_DECLARE = 9,
  CUPTI_OPENACC_CONSTRUCT_KIND_INIT = 10,
  CUPTI_OPENACC_CONSTRUCT_KIND_SHUTDOWN = 11,
  CUPTI_OPENACC_CONSTRUCT_KIND_SET = 12,
  CUPTI_OPENACC_CONSTRUCT_KIND_UPDATE = 13,
  CUPTI_OPENACC_CONSTRUCT_KIND_ROUTINE = 14,
  CUPTI_OPENACC_CONSTRUCT_KIND_WAIT = 15,
  CUPTI_OPENACC_CONSTRUCT_KIND_RUNTIME_API = 16,
  CUPTI_OPENACC_CONSTRUCT_KIND_FORCE_INT = 0x7fffffff
} CUpti_OpenAccConstructKind;

typedef enum {
  CUPTI_OPENMP_EVENT_KIND_INVALID = 0,
  CUPTI_OPENMP_EVENT_KIND_PARALLEL = 1,
  CUPTI_OPENMP_EVENT_KIND_TASK = 2,
  CUPTI_OPENMP_EVENT_KIND_THREAD = 3,
  CUPTI_OPENMP_EVENT_KIND_IDLE = 4,
  CUPTI_OPENMP_EVENT_KIND_WAIT_BARRIER = 5,
  CUPTI_OPENMP_EVENT_KIND_WAIT_TASKWAIT = 6,
  CUPTI_OPENMP_EVENT_KIND_FORCE_INT = 0x7fffffff
} CUpti_OpenMpEventKind;

typedef enum {
  CUPTI_DEV_TYPE_INVALID = 0,
  CUPTI_DEV_TYPE_GPU = 1,
  CUPTI_DEV_TYPE_NPU = 2,
  CUPTI_DEV_TYPE_FORCE_INT = 0x7fffffff
} CUpti_DevType;

typedef enum {
  CUPTI_PCIE_DEVICE_TYPE_GPU = 0,
  CUPTI_PCIE_DEVICE_TYPE_BRIDGE = 1,
  CUPTI_PCIE_DEVICE_TYPE_FORCE_INT = 0x7fffffff
} CUpti_PcieDeviceType;

typedef enum {
  CUPTI_PCIE_GEN_GEN1 = 1,
  CUPTI_PCIE_GEN_GEN2 = 2,
  CUPTI_PCIE_GEN_GEN3 = 3,
  CUPTI_PCIE_GEN_GEN4 = 4,
  CUPTI_PCIE_GEN_GEN5 = 5,
  CUPTI_PCIE_GEN_GEN6 = 6,
  CUPTI_PCIE_GEN_FORCE_INT = 0x7fffffff
} CUpti_PcieGen;

typedef enum {
  CUPTI_CONFIDENTIAL_COMPUTE_INVALID_ROTATION_EVENT = 0,
  CUPTI_CONFIDENTIAL_COMPUTE_KEY_ROTATION_CHANNEL_BLOCKED = 1,
  CUPTI_CONFIDENTIAL_COMPUTE_KEY_ROTATION_CHANNEL_DRAINED = 2,
  CUPTI_CONFIDENTIAL_COMPUTE_KEY_ROTATION_CHANNEL_UNBLOCKED = 3,
  CUPTI_CONFIDENTIAL_COMPUTE_EVENT_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ConfidentialComputeRotationEventType;

typedef enum {
  CUPTI_ACTIVITY_JIT_ENTRY_INVALID = 0,
  CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN = 1,
  CUPTI_ACTIVITY_JIT_ENTRY_NVVM_IR_TO_PTX = 2,
  CUPTI_ACTIVITY_JIT_ENTRY_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityJitEntryType;

typedef enum {
  CUPTI_ACTIVITY_JIT_OPERATION_INVALID = 0,
  CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD = 1,
  CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE = 2,
  CUPTI_ACTIVITY_JIT_OPERATION_COMPILE = 3,
  CUPTI_ACTIVITY_JIT_OPERATION_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityJitOperationType;

typedef enum {
  CUPTI_DEVICE_GRAPH_LAUNCH_MODE_INVALID = 0,
  CUPTI_DEVICE_GRAPH_LAUNCH_MODE_FIRE_AND_FORGET = 1,
  CUPTI_DEVICE_GRAPH_LAUNCH_MODE_TAIL = 2,
  CUPTI_DEVICE_GRAPH_LAUNCH_MODE_FIRE_AND_FORGET_AS_SIBLING = 3
} CUpti_DeviceGraphLaunchMode;

typedef struct {
  CUpti_ActivityUnifiedMemoryCounterScope scope;
  CUpti_ActivityUnifiedMemoryCounterKind kind;
  uint32_t deviceId;
  uint32_t enable;
} CUpti_ActivityUnifiedMemoryCounterConfig;

typedef struct {
  uint32_t enabled;
  uint32_t pid;
} CUpti_ActivityAutoBoostState;

typedef struct {
  uint32_t commandBufferLength;
  uint32_t channelID;
  uint32_t channelType;
} CUpti_ActivityOverheadCommandBufferFullData;

typedef struct HEDDLE_PACKED {
  uint32_t size;
  CUpti_ActivityPCSamplingPeriod samplingPeriod;
  uint32_t samplingPeriod2;
} CUpti_ActivityPCSamplingConfig;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  union {
    uint8_t both;
    struct {
      uint8_t requested : 4;
      uint8_t executed : 4;
    } config;
  } cacheConfig;
  uint8_t sharedMemoryConfig;
  uint16_t registersPerThread;
  uint64_t start;
  uint64_t end;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t streamId;
  int32_t gridX;
  int32_t gridY;
  int32_t gridZ;
  int32_t blockX;
  int32_t blockY;
  int32_t blockZ;
  int32_t staticSharedMemory;
  int32_t dynamicSharedMemory;
  uint32_t localMemoryPerThread;
  uint32_t localMemoryTotal;
  uint32_t correlationId;
  int64_t gridId;
  int64_t parentGridId;
  uint64_t queued;
  uint64_t submitted;
  uint64_t completed;
  uint32_t parentBlockX;
  uint32_t parentBlockY;
  uint32_t parentBlockZ;
  uint32_t pad;
  const char *name;
} CUpti_ActivityCdpKernel;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t deviceId;
  union {
    CUdevice_attribute cu;
    CUpti_DeviceAttribute cupti;
  } attribute;
  union {
    double vDouble;
    uint32_t vUint32;
    uint64_t vUint64;
    int32_t vInt32;
    int64_t vInt64;
  } value;
} CUpti_ActivityDeviceAttribute;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityMemoryKind memoryKind;
  uint64_t address;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint64_t allocPC;
  uint64_t freePC;
  uint32_t processId;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t pad;
  const char *name;
} CUpti_ActivityMemory;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityMemoryOperationType memoryOperationType;
  CUpti_ActivityMemoryKind memoryKind;
  uint32_t correlationId;
  uint64_t address;
  uint64_t bytes;
  uint64_t timestamp;
  uint64_t PC;
  uint32_t processId;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t streamId;
  const char *name;
  uint32_t isAsync;
  uint32_t pad1;
  struct {
    CUpti_ActivityMemoryPoolType memoryPoolType;
    uint32_t pad2;
    uint64_t address;
    uint64_t releaseThreshold;
    union {
      uint64_t size;
      uint64_t processId;
    } pool;
    uint64_t utilizedSize;
  } memoryPoolConfig;
  const char *source;
} CUpti_ActivityMemory4;
typedef CUpti_ActivityMemory4 CUpti_ActivityMemory3;
typedef CUpti_ActivityMemory4 CUpti_ActivityMemory2;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityMemoryPoolOperationType memoryPoolOperationType;
  CUpti_ActivityMemoryPoolType memoryPoolType;
  uint32_t correlationId;
  uint32_t processId;
  uint32_t deviceId;
  size_t minBytesToKeep;
  uint64_t address;
  uint64_t size;
  uint64_t releaseThreshold;
  uint64_t timestamp;
  uint64_t utilizedSize;
  uint8_t isManagedPool;
  uint8_t pad2[7];
} CUpti_ActivityMemoryPool3;
typedef CUpti_ActivityMemoryPool3 CUpti_ActivityMemoryPool2;
typedef CUpti_ActivityMemoryPool3 CUpti_ActivityMemoryPool;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityPreemptionKind preemptionKind;
  uint64_t timestamp;
  int64_t gridId;
  uint32_t blockX;
  uint32_t blockY;
  uint32_t blockZ;
  uint32_t pad;
} CUpti_ActivityPreemption;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_EventID id;
  uint64_t value;
  CUpti_EventDomainID domain;
  uint32_t correlationId;
} CUpti_ActivityEvent;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_EventID id;
  CUpti_EventDomainID domain;
  uint32_t instance;
  uint64_t value;
  uint32_t correlationId;
  uint32_t pad;
} CUpti_ActivityEventInstance;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_MetricID id;
  CUpti_MetricValue value;
  uint32_t correlationId;
  uint8_t flags;
  uint8_t pad[3];
} CUpti_ActivityMetric;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_MetricID id;
  CUpti_MetricValue value;
  uint32_t instance;
  uint32_t correlationId;
  uint8_t flags;
  uint8_t pad[7];
} CUpti_ActivityMetricInstance;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t id;
  uint32_t lineNumber;
  uint32_t pad;
  const char *fileName;
} CUpti_ActivitySourceLocator;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t sourceLocatorId;
  uint32_t correlationId;
  uint32_t functionId;
  uint32_t executed;
  uint64_t pcOffset;
  uint64_t threadsExecuted;
  uint64_t l2_transactions;
  uint64_t theoreticalL2Transactions;
} CUpti_ActivityGlobalAccess3;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t sourceLocatorId;
  uint32_t correlationId;
  uint32_t functionId;
  uint32_t pcOffset;
  uint32_t diverged;
  uint64_t threadsExecuted;
  uint32_t executed;
  uint32_t pad;
} CUpti_ActivityBranch2;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t id;
  CUpti_MetricValueKind payloadKind;
  CUpti_MetricValue payload;
  uint32_t color;
  uint32_t category;
  uint32_t cuptiDomainId;
  uint32_t padding;
} CUpti_ActivityMarkerData2;
typedef CUpti_ActivityMarkerData2 CUpti_ActivityMarkerData;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityOverheadKind overheadKind;
  CUpti_ActivityObjectKind objectKind;
  CUpti_ActivityObjectKindId objectId;
  uint64_t start;
  uint64_t end;
  uint32_t correlationId;
  uint32_t reserved0;
  void *overheadData;
} CUpti_ActivityOverhead3;
typedef CUpti_ActivityOverhead3 CUpti_ActivityOverhead2;
typedef CUpti_ActivityOverhead3 CUpti_ActivityOverhead;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t deviceId;
  uint64_t timestamp;
  CUpti_ActivityEnvironmentKind environmentKind;
  union {
    struct {
      uint32_t smClock;
      uint32_t memoryClock;
      uint32_t pcieLinkGen;
      uint32_t pcieLinkWidth;
      CUpti_EnvironmentClocksThrottleReason clocksThrottleReasons;
    } speed;
    struct {
      uint32_t gpuTemperature;
    } temperature;
    struct {
      uint32_t power;
      uint32_t powerLimit;
    } power;
    struct {
      uint32_t fanSpeed;
    } cooling;
  } data;
} CUpti_ActivityEnvironment;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t sourceLocatorId;
  uint32_t correlationId;
  uint32_t functionId;
  uint32_t pcOffset;
  uint64_t threadsExecuted;
  uint64_t notPredOffThreadsExecuted;
  uint32_t executed;
  uint32_t pad;
} CUpti_ActivityInstructionExecution;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t sourceLocatorId;
  uint32_t correlationId;
  uint32_t functionId;
  uint32_t latencySamples;
  uint32_t samples;
  CUpti_ActivityPCSamplingStallReason stallReason;
  uint64_t pcOffset;
} CUpti_ActivityPCSampling3;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t correlationId;
  uint64_t totalSamples;
  uint64_t droppedSamples;
  uint64_t samplingPeriodInCycles;
} CUpti_ActivityPCSamplingRecordInfo;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityUnifiedMemoryCounterKind counterKind;
  uint64_t value;
  uint64_t start;
  uint64_t end;
  uint64_t address;
  uint32_t srcId;
  uint32_t dstId;
  uint32_t streamId;
  uint32_t processId;
  uint32_t flags;
  uint32_t pad;
  uint64_t processors[5];
} CUpti_ActivityUnifiedMemoryCounter3;
typedef CUpti_ActivityUnifiedMemoryCounter3 CUpti_ActivityUnifiedMemoryCounter2;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t id;
  uint32_t contextId;
  uint32_t moduleId;
  uint32_t functionIndex;
  uint32_t pad;
  const char *name;
} CUpti_ActivityFunction;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t contextId;
  uint32_t id;
  uint32_t cubinSize;
  const void *cubin;
} CUpti_ActivityModule;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t sourceLocatorId;
  uint32_t correlationId;
  uint32_t functionId;
  uint32_t pcOffset;
  uint64_t threadsExecuted;
  uint64_t sharedTransactions;
  uint64_t theoreticalSharedTransactions;
  uint32_t executed;
  uint32_t pad;
} CUpti_ActivitySharedAccess;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t correlationId;
  uint32_t contextId;
  uint32_t streamId;
  uint32_t eventId;
  uint32_t pad;
  uint32_t deviceId;
  uint32_t pad2;
  void *reserved0;
  uint64_t deviceTimestamp;
  uint64_t cudaEventSyncId;
} CUpti_ActivityCudaEvent2;
typedef CUpti_ActivityCudaEvent2 CUpti_ActivityCudaEvent;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityFlag flags;
  uint32_t sourceLocatorId;
  uint32_t functionId;
  uint32_t pcOffset;
  uint32_t pad;
} CUpti_ActivityInstructionCorrelation;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_OpenAccEventKind eventKind;
  CUpti_OpenAccConstructKind parentConstruct;
  uint32_t version;
  uint32_t implicit;
  uint32_t deviceType;
  uint32_t deviceNumber;
  uint32_t threadId;
  uint64_t async;
  uint64_t asyncMap;
  uint32_t lineNo;
  uint32_t endLineNo;
  uint32_t funcLineNo;
  uint32_t funcEndLineNo;
  uint64_t start;
  uint64_t end;
  uint32_t cuDeviceId;
  uint32_t cuContextId;
  uint32_t cuStreamId;
  uint32_t cuProcessId;
  uint32_t cuThreadId;
  uint32_t externalId;
  const char *srcFile;
  const char *funcName;
} CUpti_ActivityOpenAcc;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_OpenAccEventKind eventKind;
  CUpti_OpenAccConstructKind parentConstruct;
  uint32_t version;
  uint32_t implicit;
  uint32_t deviceType;
  uint32_t deviceNumber;
  uint32_t threadId;
  uint64_t async;
  uint64_t asyncMap;
  uint32_t lineNo;
  uint32_t endLineNo;
  uint32_t funcLineNo;
  uint32_t funcEndLineNo;
  uint64_t start;
  uint64_t end;
  uint32_t cuDeviceId;
  uint32_t cuContextId;
  uint32_t cuStreamId;
  uint32_t cuProcessId;
  uint32_t cuThreadId;
  uint32_t externalId;
  const char *srcFile;
  const char *funcName;
  uint64_t bytes;
  uint64_t hostPtr;
  uint64_t devicePtr;
  const char *varName;
} CUpti_ActivityOpenAccData;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_OpenAccEventKind eventKind;
  CUpti_OpenAccConstructKind parentConstruct;
  uint32_t version;
  uint32_t implicit;
  uint32_t deviceType;
  uint32_t deviceNumber;
  uint32_t threadId;
  uint64_t async;
  uint64_t asyncMap;
  uint32_t lineNo;
  uint32_t endLineNo;
  uint32_t funcLineNo;
  uint32_t funcEndLineNo;
  uint64_t start;
  uint64_t end;
  uint32_t cuDeviceId;
  uint32_t cuContextId;
  uint32_t cuStreamId;
  uint32_t cuProcessId;
  uint32_t cuThreadId;
  uint32_t externalId;
  const char *srcFile;
  const char *funcName;
  uint64_t numGangs;
  uint64_t numWorkers;
  uint64_t vectorLength;
  const char *kernelName;
} CUpti_ActivityOpenAccLaunch;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_OpenAccEventKind eventKind;
  CUpti_OpenAccConstructKind parentConstruct;
  uint32_t version;
  uint32_t implicit;
  uint32_t deviceType;
  uint32_t deviceNumber;
  uint32_t threadId;
  uint64_t async;
  uint64_t asyncMap;
  uint32_t lineNo;
  uint32_t endLineNo;
  uint32_t funcLineNo;
  uint32_t funcEndLineNo;
  uint64_t start;
  uint64_t end;
  uint32_t cuDeviceId;
  uint32_t cuContextId;
  uint32_t cuStreamId;
  uint32_t cuProcessId;
  uint32_t cuThreadId;
  uint32_t externalId;
  const char *srcFile;
  const char *funcName;
} CUpti_ActivityOpenAccOther;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_OpenMpEventKind eventKind;
  uint32_t version;
  uint32_t threadId;
  uint64_t start;
  uint64_t end;
  uint32_t cuProcessId;
  uint32_t cuThreadId;
} CUpti_ActivityOpenMp;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t nvlinkVersion;
  CUpti_DevType typeDev0;
  CUpti_DevType typeDev1;
  union {
    CUuuid uuidDev;
    struct {
      uint32_t index;
      uint32_t domainId;
    } npu;
  } idDev0;
  union {
    CUuuid uuidDev;
    struct {
      uint32_t index;
      uint32_t domainId;
    } npu;
  } idDev1;
  uint32_t flag;
  uint32_t physicalNvLinkCount;
  int8_t portDev0[32];
  int8_t portDev1[32];
  uint64_t bandwidth;
  uint8_t nvswitchConnected;
  uint8_t pad[7];
} CUpti_ActivityNvLink4;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_PcieDeviceType type;
  union {
    CUdevice devId;
    uint32_t bridgeId;
  } id;
  uint32_t domain;
  uint16_t pcieGeneration;
  uint16_t linkRate;
  uint16_t linkWidth;
  uint16_t upstreamBus;
  union {
    struct {
      CUuuid uuidDev;
      CUdevice peerDev[32];
    } gpuAttr;
    struct {
      uint16_t secondaryBus;
      uint16_t deviceId;
      uint16_t vendorId;
      uint16_t pad0;
    } bridgeAttr;
  } attr;
} CUpti_ActivityPcie;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ConfidentialComputeRotationEventType eventType;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t channelId;
  CUpti_ChannelType channelType;
  uint64_t timestamp;
} CUpti_ActivityConfidentialComputeRotation;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  CUpti_ActivityJitEntryType jitEntryType;
  CUpti_ActivityJitOperationType jitOperationType;
  uint32_t deviceId;
  uint64_t start;
  uint64_t end;
  uint32_t correlationId;
  uint32_t padding;
  uint64_t jitOperationCorrelationId;
  uint64_t cacheSize;
  const char *cachePath;
  uint32_t processId;
  uint32_t threadId;
} CUpti_ActivityJit2;
typedef CUpti_ActivityJit2 CUpti_ActivityJit;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t correlationId;
  uint64_t start;
  uint64_t end;
  uint32_t deviceId;
  uint32_t graphId;
  uint32_t contextId;
  uint32_t streamId;
  void *reserved;
  uint32_t endDeviceId;
  uint32_t endContextId;
} CUpti_ActivityGraphTrace2;
typedef CUpti_ActivityGraphTrace2 CUpti_ActivityGraphTrace;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t deviceId;
  uint64_t start;
  uint64_t end;
  uint32_t graphId;
  uint32_t launcherGraphId;
  uint32_t deviceLaunchMode;
  uint32_t contextId;
  uint64_t streamId;
  void *reserved;
} CUpti_ActivityDeviceGraphTrace;

typedef struct HEDDLE_PACKED {
  CUpti_ActivityKind kind;
  uint32_t deviceId;
  uint32_t contextId;
  uint32_t streamId;
  uint32_t channelID;
  CUpti_ChannelType channelType;
  uint32_t correlationId;
  uint32_t numberOfOperations;
  uint64_t sourceBytes;
  void *reserved0;
  uint64_t start;
  uint64_t end;
} CUpti_ActivityMemDecompress;

