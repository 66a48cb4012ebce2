// What leaves the shared library: names marked LANKY_EXPORT. All others have hidden visibility.
#pragma once

#define LANKY_EXPORT __attribute__((visibility("default")))
