// Files and images of sample programs (PGM and PPM), and their comparison.
#ifndef HEDDLE_HELPER_IMAGE_H
#define HEDDLE_HELPER_IMAGE_H

#include <ctype.h>
#include <fstream>
#include <iostream>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

namespace heddle_sdk {

// An image with 1 or 3 bytes per pixel.
struct image {
  unsigned int width, height, channels;
  std::vector<unsigned char> bytes;
};

// The next number of a header, in which # begins a comment.
static inline bool image_number(FILE *f, unsigned int *n) {
  int c = getc(f);
  while (c == '#' || isspace(c)) {
    while (c == '#' && (c = getc(f)) != '\n' && c != EOF) c = '#';
    c = getc(f);
  }
  if (!isdigit(c)) return false;
  for (*n = 0; isdigit(c) && *n < 1u << 24; c = getc(f)) *n = *n * 10 + (unsigned int)(c - '0');
  return true; // one blank after the number is read
}
static inline bool load_image(const char *file, image *i) {
  FILE *f = file ? fopen(file, "rb") : 0;
  unsigned int most = 0;
  char magic[2] = {0, 0};
  bool ok = f && fread(magic, 1, 2, f) == 2 && magic[0] == 'P' && (magic[1] == '5' || magic[1] == '6') && image_number(f, &i->width) &&
            image_number(f, &i->height) && image_number(f, &most) && most < 256;
  if (ok) {
    i->channels = magic[1] == '5' ? 1 : 3;
    i->bytes.resize((size_t)i->width * i->height * i->channels);
    ok = fread(i->bytes.data(), 1, i->bytes.size(), f) == i->bytes.size();
  }
  if (f) fclose(f);
  if (!ok) fprintf(stderr, "%s: no PGM or PPM image of bytes can be read from it\n", file ? file : "(no name)");
  return ok;
}
static inline bool save_image(const char *file, const image &i) {
  FILE *f = file ? fopen(file, "wb") : 0;
  if (!f) {
    fprintf(stderr, "%s: it cannot be written\n", file ? file : "(no name)");
    return false;
  }
  fprintf(f, "P%d\n%u\n%u\n255\n", i.channels == 1 ? 5 : 6, i.width, i.height);
  bool ok = fwrite(i.bytes.data(), 1, i.bytes.size(), f) == i.bytes.size();
  return fclose(f) == 0 && ok;
}

// Conversions between bytes and other types: floats are from 0 to 1.
template <class T> inline T of_byte(unsigned char b) { return (T)b; }
template <> inline float of_byte<float>(unsigned char b) { return (float)b / 255.0f; }
template <class T> inline unsigned char to_byte(T v) { return (unsigned char)v; }
template <> inline unsigned char to_byte<float>(float v) { return (unsigned char)(v * 255.0f); }

// Images as the arrays of samples, with per elements for each pixel. Memory is allocated
// if there is none; existing memory has the image's size.
template <class T> inline bool load(const char *file, T **data, unsigned int *w, unsigned int *h, unsigned int channels, unsigned int per) {
  image i;
  if (!load_image(file, &i) || i.channels != channels) return false;
  if (*data && ((*w && *w != i.width) || (*h && *h != i.height))) {
    fprintf(stderr, "%s: the image has %u x %u pixels, not %u x %u\n", file, i.width, i.height, *w, *h);
    return false;
  }
  *w = i.width, *h = i.height;
  size_t pixels = (size_t)i.width * i.height;
  if (!*data) *data = (T *)malloc(sizeof(T) * pixels * per);
  for (size_t p = 0; p < pixels; p++)
    for (unsigned int c = 0; c < per; c++) (*data)[p * per + c] = of_byte<T>(c < channels ? i.bytes[p * channels + c] : 0);
  return true;
}
template <class T> inline bool save(const char *file, const T *data, unsigned int w, unsigned int h, unsigned int channels, unsigned int per) {
  image i = {w, h, channels, {}};
  for (size_t p = 0; p < (size_t)w * h; p++)
    for (unsigned int c = 0; c < channels; c++) i.bytes.push_back(to_byte<T>(data[p * per + c]));
  return save_image(file, i);
}

// Whether at most a share, threshold, of n numbers differ by more than epsilon.
template <class T> inline bool near(const T *want, const T *got, size_t n, double epsilon, double threshold) {
  size_t wrong = 0;
  for (size_t i = 0; i < n; i++)
    if (!(fabs((double)want[i] - (double)got[i]) <= epsilon)) wrong++;
  if (wrong) printf("%zu of %zu values differ by more than %g\n", wrong, n, epsilon);
  return wrong == 0 || (double)wrong < threshold * (double)n;
}

static inline bool read_file(const char *file, std::vector<char> *bytes) {
  std::ifstream in(file ? file : "", std::ios::binary);
  if (!in) {
    fprintf(stderr, "%s: it cannot be read\n", file ? file : "(no name)");
    return false;
  }
  bytes->assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  return true;
}
template <class T> inline bool compare_files(const char *got, const char *want, size_t n, double epsilon, double threshold) {
  std::vector<char> g, w;
  if (!read_file(got, &g) || !read_file(want, &w)) return false;
  if (g.size() < n * sizeof(T) || w.size() < n * sizeof(T)) {
    fprintf(stderr, "%s, %s: a file has fewer than %zu values\n", got, want, n);
    return false;
  }
  return near((const T *)w.data(), (const T *)g.data(), n, epsilon, threshold);
}
static inline bool compare_images(const char *got, const char *want, double epsilon, double threshold) {
  image g, w;
  if (!load_image(got, &g) || !load_image(want, &w)) return false;
  if (g.width != w.width || g.height != w.height || g.channels != w.channels) {
    fprintf(stderr, "%s, %s: the images have different sizes\n", got, want);
    return false;
  }
  return near(w.bytes.data(), g.bytes.data(), g.bytes.size(), epsilon, threshold);
}

} // namespace heddle_sdk

template <class T> inline bool sdkLoadPGM(const char *file, T **data, unsigned int *w, unsigned int *h) {
  return heddle_sdk::load(file, data, w, h, 1, 1);
}
template <class T> inline bool sdkSavePGM(const char *file, T *data, unsigned int w, unsigned int h) {
  return heddle_sdk::save(file, data, w, h, 1, 1);
}
template <class T> inline bool sdkLoadPPM4(const char *file, T **data, unsigned int *w, unsigned int *h) {
  return heddle_sdk::load(file, data, w, h, 3, 4);
}
static inline bool sdkLoadPPM4ub(const char *file, unsigned char **data, unsigned int *w, unsigned int *h) {
  return heddle_sdk::load(file, data, w, h, 3, 4);
}
static inline bool sdkSavePPM4ub(const char *file, unsigned char *data, unsigned int w, unsigned int h) {
  return heddle_sdk::save(file, data, w, h, 3, 4);
}
static inline bool sdkLoadPPMub(const char *file, unsigned char **data, unsigned int *w, unsigned int *h) {
  return heddle_sdk::load(file, data, w, h, 3, 3);
}
static inline bool sdkSavePPMub(const char *file, unsigned char *data, unsigned int w, unsigned int h) {
  return heddle_sdk::save(file, data, w, h, 3, 3);
}

// Numbers as text, one after another.
template <class T> inline bool sdkReadFile(const char *file, T **data, unsigned int *n, bool verbose) {
  std::ifstream in(file ? file : "");
  if (!in) {
    if (verbose) fprintf(stderr, "%s: it cannot be read\n", file ? file : "(no name)");
    return false;
  }
  std::vector<T> all;
  for (T v; in >> v;) all.push_back(v);
  if (*data && *n < all.size()) return false;
  if (!*data) *data = (T *)malloc(sizeof(T) * all.size());
  *n = (unsigned int)all.size();
  for (size_t i = 0; i < all.size(); i++) (*data)[i] = all[i];
  return true;
}
template <class T, class S> inline bool sdkWriteFile(const char *file, const T *data, unsigned int n, const S epsilon, bool verbose, bool append = false) {
  std::ofstream out(file ? file : "", append ? std::ios::app : std::ios::trunc);
  out << "# " << epsilon << "\n";
  for (unsigned int i = 0; i < n; i++) out << data[i] << (i + 1 < n ? " " : "\n");
  if (!out && verbose) fprintf(stderr, "%s: it cannot be written\n", file ? file : "(no name)");
  return (bool)out;
}
static inline void sdkDumpBin(void *data, unsigned int bytes, const char *file) {
  std::ofstream((std::string)(file ? file : ""), std::ios::binary).write((const char *)data, bytes);
}
static inline void sdkDumpBin2(void *data, unsigned int bytes, const char *file) { sdkDumpBin(data, bytes, file); }

template <class T, class S> inline bool compareData(const T *want, const T *got, const unsigned int n, const S epsilon, const float threshold) {
  return heddle_sdk::near(want, got, n, (double)epsilon, threshold);
}
template <class T, class S> inline bool compareDataAsFloatThreshold(const T *want, const T *got, const unsigned int n, const S epsilon, const float threshold) {
  return heddle_sdk::near(want, got, n, (double)epsilon, threshold);
}
// Whether the difference is small relative to the expected values, as vectors.
static inline bool sdkCompareL2fe(const float *want, const float *got, const unsigned int n, const float epsilon) {
  double error = 0, whole = 0;
  for (unsigned int i = 0; i < n; i++) {
    double d = (double)want[i] - got[i];
    error += d * d;
    whole += (double)want[i] * want[i];
  }
  return whole > 0 && sqrt(error / whole) < epsilon;
}
static inline bool sdkCompareBin2BinFloat(const char *got, const char *want, const unsigned int n, const float epsilon, const float threshold, char *) {
  return heddle_sdk::compare_files<float>(got, want, n, epsilon, threshold);
}
static inline bool sdkCompareBin2BinUint(const char *got, const char *want, unsigned int n, const float epsilon, const float threshold, char *) {
  return heddle_sdk::compare_files<unsigned int>(got, want, n, epsilon, threshold);
}
static inline bool sdkComparePPM(const char *got, const char *want, const float epsilon, const float threshold, bool = false) {
  return heddle_sdk::compare_images(got, want, epsilon, threshold);
}
static inline bool sdkComparePGM(const char *got, const char *want, const float epsilon, const float threshold, bool = false) {
  return heddle_sdk::compare_images(got, want, epsilon, threshold);
}

#endif
