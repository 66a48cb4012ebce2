// A server of the collection, and how to treat it.
#pragma once

#include <string>

#include "collection/index.hpp"
#include "collection/retry.hpp"

namespace lanky::collection {

struct Site {
  std::string mirror = "https://sparse.tamu.edu";
  int connections = 4;
  double stall_seconds = 30;
  RetryPolicy retry;

  std::string index_url() const { return base() + "/files/ssstats.csv"; }
  std::string archive_url(const Entry& entry) const {
    return base() + "/MM/" + entry.full_name() + ".tar.gz";
  }

 private:
  std::string base() const { return mirror.substr(0, mirror.find_last_not_of('/') + 1); }
};

}  // namespace lanky::collection
