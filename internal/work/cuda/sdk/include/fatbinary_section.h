// Where programs keep their fat binaries: the structure that they register, and its sections.
#ifndef HEDDLE_FATBINARY_SECTION_H
#define HEDDLE_FATBINARY_SECTION_H

#define FATBIN_CONTROL_SECTION_NAME ".nvFatBinSegment"
#define FATBIN_DATA_SECTION_NAME ".nv_fatbin"
#define FATBINC_MAGIC 0x466243B1
#define FATBINC_VERSION 1
#define FATBINC_LINK_VERSION 2

typedef struct {
  int magic;
  int version;
  const unsigned long long *data;
  void *filename_or_fatbins;
} __fatBinC_Wrapper_t;

#endif
