#!/bin/sh
# Installs what building and testing FlashLab needs, and only what is missing. Debian 12 or 13 (Ubuntu's names are the same).
#
#   sh tools/install_dependencies.sh            build and tests
#   sh tools/install_dependencies.sh --iozone   IOZone too: it lives in Debian's non-free component; exit 3 where it is not to be had
#   sh tools/install_dependencies.sh --formatter         clang-format 16 alone, for the layout test; exit 3 likewise
#
# Needs no network when everything is there. Uses sudo when not root.
set -eu

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo "$@"
    else
        echo "install_dependencies: missing packages need root: run as root or install sudo" >&2
        exit 1
    fi
}

apt_install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

# Boost headers carry their version in Debian's package name; 1.81 is the newest of Debian 12, Debian 13 has later ones.
boost_package() {
    for candidate in libboost1.81-dev libboost1.83-dev libboost1.88-dev libboost-dev; do
        if installed "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    if has_candidate libboost1.81-dev; then echo libboost1.81-dev; else echo libboost-dev; fi
}

# Whether apt could install it. `apt-cache show` also succeeds for a name that other packages merely mention.
has_candidate() { apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'; }

install_missing() {
    build="g++ cmake ninja-build pkg-config libfmt-dev libfuse3-dev fuse3 libsqlite3-dev libcli11-dev
           libtomlplusplus-dev nlohmann-json3-dev libxxhash-dev zlib1g-dev libzstd-dev liblzma-dev libexpat1-dev libncurses-dev nbdkit-plugin-dev"
    tests="catch2 librapidcheck-dev fio git sqlite3 tar procps e2fsprogs nbdkit libnbd-bin python3-libnbd"
    missing=""
    for package in $build $tests; do
        installed "$package" || missing="$missing $package"
    done
    if ! installed "$(boost_package)"; then missing="$missing boost"; fi
    [ -n "$missing" ] || return 0

    if ! command -v apt-get >/dev/null 2>&1; then
        echo "install_dependencies: this system has no apt-get; install by hand:$missing" >&2
        exit 1
    fi
    echo "installing:$missing"
    as_root apt-get update -q
    # shellcheck disable=SC2046,SC2086 # a list of package names
    apt_install $(echo $missing | sed "s/\bboost\b/$(boost_package)/")
}

# The component is asked for in a copy of the package sources: the machine's own settings stay as they are.
install_iozone() {
    command -v iozone >/dev/null 2>&1 && return 0
    command -v apt-get >/dev/null 2>&1 || return 3
    sources=$(mktemp -d)
    mkdir -p "$sources/parts" "$sources/lists/partial"
    chmod -R a+rX "$sources"
    cp /etc/apt/sources.list "$sources/main.list" 2>/dev/null || : > "$sources/main.list"
    cp /etc/apt/sources.list.d/debian*.sources "$sources/parts/" 2>/dev/null || true
    sed -i 's/^\(Components:.*\)$/\1 non-free/; /^deb .* main/s/$/ non-free/' "$sources/main.list" "$sources"/parts/* 2>/dev/null || true
    result=0
    as_root apt-get -q -o Dir::Etc::sourcelist="$sources/main.list" -o Dir::Etc::sourceparts="$sources/parts" -o Dir::State::lists="$sources/lists" update \
        && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o Dir::Etc::sourcelist="$sources/main.list" \
               -o Dir::Etc::sourceparts="$sources/parts" -o Dir::State::lists="$sources/lists" iozone3 || result=3
    as_root rm -rf "$sources"
    return $result
}

# The layout test formats with this version. Where Debian has another one, the test leaves that part out.
install_formatter() {
    installed clang-format-16 && return 0
    command -v apt-get >/dev/null 2>&1 || return 3
    has_candidate clang-format-16 || as_root apt-get update -q || return 3
    has_candidate clang-format-16 && apt_install clang-format-16 || return 3
}

case "${1-}" in
    "") install_missing ;;
    --iozone) install_missing; install_iozone || exit 3 ;;
    --formatter) install_formatter || exit 3 ;;
    *) echo "usage: sh tools/install_dependencies.sh [--iozone | --formatter]" >&2; exit 2 ;;
esac
