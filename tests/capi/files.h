/* A folder of the test's own for what it writes. */
#ifndef LANKY_TESTS_CAPI_FILES_H
#define LANKY_TESTS_CAPI_FILES_H

/* Makes the folder. Returns 0 where that fails. */
int make_folder(void);
/* The path of a file there, which stands until 8 more have been asked for. `name` is a literal. */
const char* path_of(const char* name);
void write_file(const char* path, const char* text);
/* Removes the files that path_of() named, and the folder. */
void remove_folder(void);

#endif
