package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/internal/alltests"
	"github.com/heddle-sim/heddle/internal/work/cuda/sdk"
)

// libraryCalls are the libraries whose functions TestLibraryNonsense calls.
var libraryCalls = []struct {
	link      string   // what follows -l
	headers   []string // the first names the test
	functions string   // their names
	least     int      // that the headers declare
	result    string   // the type of codes
	codes     string   // C: whether a code r is one of the library's
	valid     string   // C: makes a handle, and for some libraries another object
	arguments []string // C: types, and what functions get for a parameter of such a type
}{
	{
		"cublas cublasLt", []string{"cublas_v2.h", "cublasLt.h"}, `cublas\w+`, 500, "cublasStatus_t", `!strncmp(cublasGetStatusName(r), "CUBLAS_", 7)`,
		"cublasHandle_t h = 0; cublasCreate(&h); handle = (uint64_t)h;",
		[]string{`cublas(Lt)?Handle_t`, "handle", `cublasLtMat(mulDesc|mulPreference|rixLayout|rixTransformDesc)_t`, "pointer(0)", `cudaStream_t`, "0"},
	},
	{
		"cublas", []string{"cublas.h"}, `cublas\w+`, 150, "cublasStatus_t", "r >= 0 && r <= CUBLAS_STATUS_LICENSE_ERROR",
		"cublasInit();", []string{`cu(Double)?Complex`, "{}", `cudaStream_t`, "0"},
	},
	{
		"cufft", []string{"cufft.h", "cufftXt.h"}, `cufft\w+`, 20, "cufftResult", "r >= 0 && r <= 16",
		"cufftHandle h = 0; cufftPlan1d(&h, 8, CUFFT_C2C, 1); handle = h;", []string{`cufftHandle`, "handle"},
	},
	{
		"curand", []string{"curand.h"}, `curand\w+`, 20, "curandStatus_t", "r == 0 || r >= 101 && r <= 105 || r >= 201 && r <= 204",
		"curandGenerator_t h = 0; curandCreateGenerator(&h, CURAND_RNG_PSEUDO_DEFAULT); handle = (uint64_t)h;",
		[]string{`curand(Generator|DiscreteDistribution)_t`, "handle"},
	},
	{
		"cusparse", []string{"cusparse.h"}, `cusparse\w+`, 100, "cusparseStatus_t", "r >= 0 && r <= CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
		"cusparseHandle_t h = 0; cusparseMatDescr_t m = 0; cusparseCreate(&h); cusparseCreateMatDescr(&m); handle = (uint64_t)h; object = (uint64_t)m;",
		[]string{`cusparseHandle_t`, "handle", `\w+(Descr_t|Info_t)|cudaStream_t`, "object"},
	},
	{
		"nvrtc", []string{"nvrtc.h"}, `nvrtc\w+`, 20, "nvrtcResult", "r >= 0 && r <= NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
		`nvrtcProgram h = 0; nvrtcCreateProgram(&h, "__global__ void k() {}", 0, 0, 0, 0); handle = (uint64_t)h;`, []string{`nvrtcProgram`, "handle"},
	},
	{
		"nvidia-ml", []string{"nvml.h"}, `nvml\w+`, 80, "nvmlReturn_t", "r >= 0 && r <= NVML_ERROR_INVALID_STATE || r == NVML_ERROR_UNKNOWN",
		"nvmlDevice_t h = 0; nvmlInit(); nvmlDeviceGetHandleByIndex(0, &h); handle = (uint64_t)h;", []string{`nvmlDevice_t`, "handle"},
	},
	{
		"cupti", []string{"cupti.h"}, `cupti\w+`, 60, "CUptiResult", "r >= 0 && r <= CUPTI_ERROR_INVALID_CHIP_NAME",
		`CUpti_SubscriberHandle h = 0;
    cuptiFinalize();
    cuptiSubscribe(&h, [](void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *) {}, 0);
    cuptiActivityRegisterCallbacks([](uint8_t **, size_t *, size_t *) {}, [](CUcontext, uint32_t, uint8_t *, size_t, size_t) {});
    handle = (uint64_t)h;`,
		[]string{`CUpti_SubscriberHandle`, "handle", `CUpti_\w+Func`, "0"},
	},
	{
		"", []string{"nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtCuda.h", "nvtx3/nvToolsExtCudaRt.h", "nvtx3/nvToolsExtMem.h"}, `nvtx\w+`, 40, "int", "true",
		`handle = (uint64_t)nvtxDomainCreateA("domain");`, []string{`nvtxDomainHandle_t|CU(context|event|stream)|cuda(Event|Stream)_t`, "handle"},
	},
}

// TestLibraryNonsense calls every function of libraries with handles that are none and with
// a valid one, with null pointers, host memory and managed memory, and with numbers of all
// sizes: each returns a code of the library, and the program survives.
func TestLibraryNonsense(t *testing.T) {
	alltests.Only(t, "calls of libraries without sense")
	env := append(os.Environ(), cudaEnv(t)...)
	clang, err := sdk.FindClang(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, name string, args ...string) string {
		t.Helper()
		var errs strings.Builder
		cmd := exec.Command(name, args...)
		cmd.Env, cmd.Stderr = env, &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String()[max(0, errs.Len()-4000):])
		}
		return string(out)
	}
	for _, lib := range libraryCalls {
		t.Run(lib.headers[0], func(t *testing.T) {
			var includes, declared strings.Builder
			for _, h := range lib.headers {
				fmt.Fprintf(&includes, "#include <%s>\n", h)
				include := filepath.Join("..", "..", "internal", "work", "cuda", "sdk", "include")
				declared.WriteString(run(t, clang.Path, "-E", "-P", "-w", "-x", "c", "-I", include, filepath.Join(include, h)))
			}
			var calls, last strings.Builder // last are those that end the life of what the others need
			seen := map[string]bool{}
			for _, f := range regexp.MustCompile(`(\w+)[\s*]+(`+lib.functions+`)\s*\(([^*;{}][^;{}]*)\)\s*[;{]`).FindAllStringSubmatch(declared.String(), -1) {
				if seen[f[2]] {
					continue
				}
				seen[f[2]] = true
				to, format := &calls, "  %s(%s), after();\n"
				if f[1] == lib.result {
					format = "  check(%[1]q, %[1]s(%[2]s)), after();\n"
				}
				if regexp.MustCompile(`Destroy|Shutdown|Free`).MatchString(f[2]) {
					to, format = &last, strings.Replace(format, "after()", "calls++, begin()", 1)
				}
				fmt.Fprintf(to, format, f[2], nonsenseArguments(f[3], lib.arguments))
			}
			dir := t.TempDir()
			source, program := filepath.Join(dir, "nonsense.cpp"), filepath.Join(dir, "nonsense")
			objects := 1
			if strings.Contains(lib.valid, "object") {
				objects = 3
			}
			text := strings.NewReplacer("OBJECTS", fmt.Sprint(objects), "INCLUDES", includes.String(), "RESULT", lib.result, "CODES", lib.codes,
				"VALID", lib.valid, "CALLS", calls.String()+last.String()).Replace(libraryNonsense)
			if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			args := []string{"cc", "-O0", "-w", source, "-o", program}
			for _, l := range strings.Fields(lib.link) {
				args = append(args, "-l"+l)
			}
			run(t, "heddle", args...)
			out := run(t, "heddle", "cuda", "--mode", "functional", "--gpu", "rtx-2060", "--quiet", program)
			if want := fmt.Sprintf("%d calls, 0 odd\n", 8*objects*3*13*len(seen)); len(seen) < lib.least || !strings.Contains(out, want) {
				t.Errorf("%d functions; missing %s: %s", len(seen), want, out[max(0, len(out)-4000):])
			}
		})
	}
}

// nonsenseArguments are those of a call of a function with some parameters.
func nonsenseArguments(parameters string, special []string) string {
	parameters = regexp.MustCompile(`[^,]*\(\*\w+\)\([^)]*\)`).ReplaceAllString(parameters, "decltype(nullptr) f")
	special = append(special, `.*\*|.*\[\]`, "pointer(%d)", `decltype\(nullptr\)|.*[cC]allback(_t)?`, "0", `.*`, "(number + %d %% 3 * step)")
	var args []string
	for i, p := range strings.Split(parameters, ",") {
		if p = strings.TrimSpace(p); p == "void" || p == "" {
			continue
		}
		kind := strings.TrimSpace(regexp.MustCompile(`\w+(\[\])?$`).ReplaceAllString(p, "$1"))
		for j := 0; ; j += 2 {
			if regexp.MustCompile(`(?s)^(?:` + special[j] + `)$`).MatchString(kind) {
				value := special[j+1]
				if strings.Contains(value, "%d") {
					value = fmt.Sprintf(value, i)
				}
				args = append(args, fmt.Sprintf("(%s)%s", strings.ReplaceAll(kind, "[]", "*"), value))
				break
			}
		}
	}
	return strings.Join(args, ", ")
}

const libraryNonsense = `INCLUDES#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const uint64_t handles[] = {0, 1, 2, 77, 0x510000000001, 0x7f0000000040, UINT64_MAX}, objects[] = {0, 77};
static const int64_t numbers[] = {3, 0, 1, -1, 2, 3, 0x29, 0x2a, 64, 101, INT32_MAX, UINT32_MAX, INT64_MIN};
static uint64_t handle, object, calls, odd;
static size_t h, o;
static int64_t number, step;
static int kind;
static char scratch[32][4096];
static uint64_t *memory;

static void *pointer(int i) { return kind == 0 ? 0 : kind == 1 ? (void *)scratch[i] : memory; }

// fill makes memory that serves as matrix, vector, text and list of all these: it is full
// of its own address, up to a zero.
static void fill() {
  for (int i = 0; i < 8191; i++) memory[i] = (uint64_t)(memory + 4096);
}

// begin makes what is valid.
static void begin() {
  cudaDeviceReset();
  cudaMallocManaged((void **)&memory, 1 << 16, cudaMemAttachGlobal);
  fill();
  memset(scratch, 0, sizeof scratch);
  handle = object = 0;
  { VALID }
  if (h < sizeof handles / sizeof *handles)
    handle = handles[h];
  if (o < sizeof objects / sizeof *objects)
    object = objects[o];
}

// after counts a call. After a fault all calls would fail.
static void after() {
  calls++;
  if (cudaDeviceSynchronize() != cudaSuccess)
    begin();
  fill();
}

static void check(const char *name, RESULT r) {
  if (CODES)
    return;
  printf("%s returns %d\n", name, r);
  odd++;
}

static void all() {
  begin();
CALLS}

int main() {
  for (h = 0; h < 8; h++)
    for (o = 0; o < OBJECTS; o++)
      for (kind = 0; kind < 3; kind++)
        for (int n = 0; n < 13; n++)
          number = numbers[n], step = n == 0 ? -1 : 0, all();
  printf("%d calls, %d odd\n", (int)calls, (int)odd);
  return 0;
}
`
