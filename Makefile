# The short way in. Meson and Ninja build; what is longer than a line lives in scripts/.
#
#   make          install what is missing, build into build/
#   make demo     watch real programs go through it
#   make check    everything: lint, unit, end-to-end, attacks; ends with "N passed, N failed"
#   make bench    the numbers
#   make load     the same as programs of others measure it: wrk, the MCP Inspector
#   make install  PREFIX and DESTDIR are respected
#   make asan     the same under AddressSanitizer and UBSan, into build-asan/

# Debian's Meson, under Debian's Python: a python3 earlier on PATH may be a slow shim.
MESON ?= $(firstword $(wildcard /usr/bin/meson) meson)
SETUP = --buildtype=debugoptimized -Db_ndebug=false -Dwerror=true
PREFIX ?= /usr/local
SOURCES = find src include tests examples bench -name '*.[ch]'

all: build/build.ninja
	@ninja -C build

asan: build-asan/build.ninja
	@ninja -C build-asan

build/build.ninja: | deps
	@said=$$($(MESON) setup build $(SETUP)) || { echo "$$said"; exit 1; }

build-asan/build.ninja: | deps
	@$(MESON) setup build-asan $(SETUP) -Db_sanitize=address,undefined

deps:
	@scripts/deps build

demo: build/build.ninja
	@echo "Building..."
	@ninja -C build >build/demo.log || { cat build/demo.log; exit 1; }
	@scripts/demo

check:
	@scripts/deps check
	@scripts/check

bench: all
	@bench/run

load: all
	@scripts/deps check
	@scripts/deps-mcp
	@bench/load

install: all
	@$(MESON) configure build -Dprefix='$(PREFIX)'
	@$(MESON) install -C build

format:
	@$(SOURCES) -print0 | xargs -0 clang-format -i

lint: all
	@scripts/check lint

clean:
	@rm -rf build build-asan build-logs

.PHONY: all asan deps demo check bench load install format lint clean
