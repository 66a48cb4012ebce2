/* The version of lanky's headers, for C and C++ alike. */
#ifndef LANKY_VERSION_H
#define LANKY_VERSION_H

#define LANKY_VERSION_MAJOR 1
#define LANKY_VERSION_MINOR 0
#define LANKY_VERSION_PATCH 0
/* As one number that orders versions: 1.2.3 is 10203. */
#define LANKY_VERSION \
  (LANKY_VERSION_MAJOR * 10000 + LANKY_VERSION_MINOR * 100 + LANKY_VERSION_PATCH)

#endif
