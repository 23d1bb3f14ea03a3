// Command lines of sample programs: -name, --name, -name=value.
#ifndef HEDDLE_HELPER_STRING_H
#define HEDDLE_HELPER_STRING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#if defined(__cplusplus)
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#endif

#ifndef STRCASECMP
#define STRCASECMP strcasecmp
#endif
#ifndef STRNCASECMP
#define STRNCASECMP strncasecmp
#endif

// The text after -name, from = if there is one; null if the flag is missing.
static inline const char *heddle_argument(int argc, const char **argv, const char *name) {
  size_t n = strlen(name);
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    while (*a == '-') a++;
    if (a != argv[i] && strncasecmp(a, name, n) == 0 && (a[n] == 0 || a[n] == '=')) return a + n;
  }
  return 0;
}
static inline bool checkCmdLineFlag(int argc, const char **argv, const char *name) { return heddle_argument(argc, argv, name) != 0; }
static inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name) {
  const char *v = heddle_argument(argc, argv, name);
  return v && *v == '=' ? atoi(v + 1) : 0;
}
static inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name) {
  const char *v = heddle_argument(argc, argv, name);
  return v && *v == '=' ? (float)atof(v + 1) : 0;
}
static inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **value) {
  const char *v = heddle_argument(argc, argv, name);
  *value = v && *v == '=' ? (char *)(v + 1) : 0;
  return *value != 0;
}
#if defined(__cplusplus)
template <class T> inline bool getCmdLineArgumentValue(int argc, const char **argv, const char *name, T *value) {
  const char *v = heddle_argument(argc, argv, name);
  return v && *v == '=' && std::istringstream(v + 1) >> *value;
}
#endif
// The position after leading characters of a text.
static inline int stringRemoveDelimiter(char delimiter, const char *text) {
  int n = 0;
  while (text[n] && text[n] == delimiter) n++;
  return n;
}
// The extension of a file's name, after the last dot.
static inline int getFileExtension(char *name, char **ending) {
  char *dot = strrchr(name, '.');
  *ending = dot ? dot + 1 : name + strlen(name);
  return (int)strlen(*ending);
}
// The path of a file in the working folder or in ./data, as a copy; null if there is none.
static inline char *sdkFindFilePath(const char *file, const char *program) {
  static const char *const folders[] = {"", "data/", "../data/", "../../data/"};
  (void)program;
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
    char *path = (char *)malloc(strlen(folders[i]) + strlen(file) + 1);
    strcpy(path, folders[i]);
    strcat(path, file);
    FILE *f = fopen(path, "rb");
    if (f) {
      fclose(f);
      return path;
    }
    free(path);
  }
  return 0;
}

#endif
