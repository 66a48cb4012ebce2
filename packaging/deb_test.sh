#!/usr/bin/env bash
# deb_test.sh FOLDER: installs the Debian packages of FOLDER in a bare Debian of its own, and builds and runs a user's
# programs there: C++ by CMake, C by pkg-config. Ends with status 77 where no bare Debian can be made (which takes root,
# mmdebstrap and a mirror).
set -euo pipefail
packages=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

"$here/bare_debian.sh" "$root"
mkdir "$root/packages" "$root/consumer" "$root/c"
cp "$packages"/*.deb "$root/packages"
cp "$here"/../tests/consumer/{CMakeLists.txt,main.cpp} "$root/consumer"
cp "$here"/../examples/c/spmv.c "$root/c/product.c"
in_bare_debian() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C bash -euo pipefail -c "$1"; }

echo "== the library alone: what it depends on comes with it"
in_bare_debian 'apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends /packages/liblanky1_*.deb >/dev/null; ldconfig -p | grep liblanky.so.1'
echo "== a C++ program by find_package(lanky), a C program by pkg-config"
in_bare_debian 'apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends /packages/liblanky-dev_*.deb g++ make cmake pkg-config >/dev/null
  cmake -S /consumer -B /consumer/build -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build /consumer/build >/dev/null
  /consumer/build/consumer | tail -n 1
  cc -std=c99 -Wall -Wextra -Werror /c/product.c $(pkg-config --cflags --libs lanky) -o /c/product
  /c/product'
if compgen -G "$packages/lanky_*.deb" >/dev/null; then
  echo "== the program"
  in_bare_debian 'apt-get install -y -qq -o Dpkg::Use-Pty=0 --no-install-recommends /packages/lanky_*.deb >/dev/null
    lanky --version
    lanky spmv --generate stencil5:50 --quick | tail -n 3'
  echo "== the program finds its modules, here without /proc, and has the pages that its help names"
  in_bare_debian '
    { lanky info; lanky fetch HB/west0479 --mirror file:///nowhere || true; } >/tmp/said 2>&1
    modules=$(dpkg -L lanky | grep "\.so$")
    for module in $modules; do  # a library of NVIDIA that a module is linked with may be missing
      case $module in /usr/lib/lanky/*) ;; *) echo "$module stands in a wrong folder"; exit 1;; esac
      if grep -F "$(basename "$module"): cannot open" /tmp/said; then exit 1; fi
    done
    echo $modules
    for page in $(for command in "" batch fetch report compare ladder; do lanky $command --help; done |
                    grep -o "[a-z]*\.md" | sort -u); do
      ls /usr/share/doc/lanky/$page
    done'
fi
echo "== removed without a trace"
in_bare_debian 'apt-get purge -y -qq -o Dpkg::Use-Pty=0 $(dpkg-query -W -f "\${Package} " "*lanky*") >/dev/null; ! find / -xdev -name "*lanky*" -not -path "/packages/*" -not -path "/consumer/*" -not -path "/c/*" \
  -not -path "/var/log/*" -not -path "/proc/*" | grep .'
