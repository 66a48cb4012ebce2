/* A folder below $TMPDIR or /tmp. */
#define _XOPEN_SOURCE 700
#include "files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kPathBytes = 512, kMostNames = 32 };

static char folder[kPathBytes / 2];
static const char* names[kMostNames];
static int name_count = 0;

int make_folder(void) {
  const char* base = getenv("TMPDIR");
  snprintf(folder, sizeof(folder), "%s/lanky_capi_XXXXXX", base == NULL ? "/tmp" : base);
  return mkdtemp(folder) != NULL;
}

const char* path_of(const char* name) {
  static char paths[8][kPathBytes];
  static int next = 0;
  char* path = paths[next++ % 8];
  int i = 0;
  while (i < name_count && strcmp(names[i], name) != 0)
    ++i;
  if (i == name_count && name_count < kMostNames) names[name_count++] = name;
  snprintf(path, kPathBytes, "%s/%s", folder, name);
  return path;
}

void write_file(const char* path, const char* text) {
  FILE* file = fopen(path, "w");
  if (file == NULL) return;
  fputs(text, file);
  fclose(file);
}

void remove_folder(void) {
  int i = 0;
  for (i = 0; i < name_count; ++i)
    remove(path_of(names[i]));
  rmdir(folder);
}
