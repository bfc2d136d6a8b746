# SPDX-License-Identifier: Apache-2.0
# The front of the build; the work is done by CMake and Ninja (CMakePresets.json, cmake/).

JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local
TALUS   = build/release/bin/talus
# Folders with C files of ours, as far as they exist.
SOURCES = $(shell find include src cli tests bench examples -name '*.[ch]' 2>/dev/null)

help:
	@echo 'make demo      install what is missing, build, and simulate the collapse of a column'
	@echo 'make test      install what is missing, build, and run every test'
	@echo 'make check     format, static analysis, sanitizers and the clang build'
	@echo 'make coverage  lines of src/ that the tests run (at least 90 %)'
	@echo 'make fuzz      feed the readers of scenes and meshes random files for TIME seconds each ($(TIME))'
	@echo 'make bench     build and run the benchmarks'
	@echo 'make bench-siconos  time nlgs beside the NSGS solvers of Siconos (bench/README.md)'
	@echo 'make bench-oracle   time a solver beside the best solver of Siconos for each problem'
	@echo 'make install   install library, headers and program under PREFIX ($(PREFIX))'
	@echo 'make clean     remove everything that was built'

setup:
	@tools/setup build
setup-check:
	@tools/setup build check

# Configuring again costs a second, so it is done once; Ninja does it when the build files change.
# CMakeCache.txt alone is not enough: a configuration that failed leaves one too.
build/%/build.ninja: | setup
	@cmake --preset $* >build/$*.log 2>&1 || { cat build/$*.log; exit 1; }
CHECKED = $(foreach name,clang asan tsan coverage fuzz,build/$(name)/build.ninja)
$(CHECKED): | setup-check
build/release/build.ninja: | build
$(CHECKED): | build
build:
	@mkdir -p build

# $(call compile,preset)
compile = @cmake --build build/$(1) -j $(JOBS)

release: setup build/release/build.ninja
	$(call compile,release)

demo: release
	@$(TALUS) run examples/scenes/column-2d.yaml -o build/demo.h5

# Three at a time also on two cores: some tests wait for clocks and processes.
test: release
	@ctest --test-dir build/release --output-on-failure --no-tests=error -j 3

check: check-format check-tidy check-cppcheck check-shell check-clang check-asan check-tsan
	@echo 'make check: all passed'

check-format: setup-check
	@clang-format --dry-run -Werror $(SOURCES)

# clang reads the clang build's commands; gcc's hold options it does not know. One file per run: the
# va_list check of clang-tidy 14 carries its state from one file over to the next.
check-tidy: setup-check build/clang/build.ninja
	$(call compile,clang)
	@find src cli -name '*.c' | xargs -P $(JOBS) -n 1 clang-tidy --quiet -p build/clang

check-cppcheck: setup-check build/clang/build.ninja
	@cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -j $(JOBS) \
	    --enable=warning,performance,portability \
	    --suppressions-list=tools/cppcheck.supp -I include -I src \
	    $$(find src cli -name '*.c')

check-shell: setup-check
	@shellcheck tools/setup .ci/run tests/*/*.sh

check-clang: setup-check build/clang/build.ninja
	$(call compile,clang)
	@ctest --test-dir build/clang --output-on-failure -j 2

check-asan: setup-check build/asan/build.ninja
	$(call compile,asan)
	@ctest --test-dir build/asan --output-on-failure -j 2

check-tsan: setup-check build/tsan/build.ninja
	$(call compile,tsan)
	@ctest --test-dir build/tsan --output-on-failure -L threads --no-tests=error

coverage: setup-check build/coverage/build.ninja
	$(call compile,coverage)
	@find build/coverage -name '*.gcda' -delete
	@ctest --test-dir build/coverage --output-on-failure -j 2
	@# headers are seen through the links under fence/
	@gcovr --root . --filter src/ --filter '.*/fence/' --print-summary \
	    --html-details build/coverage/coverage.html --fail-under-line 90 build/coverage

# Inputs that reached new code are kept in build/fuzz/corpus, so that a later run goes on from there.
TIME ?= 600
fuzz: release setup-check build/fuzz/build.ninja
	@cmake --build build/fuzz -j $(JOBS) --target fuzz_scene fuzz_mesh
	@mkdir -p build/fuzz/corpus build/fuzz/corpus-mesh
	@$(TALUS) help scene --markdown | sed -n 's/^| `\([a-z_]*\)`.*/"\1"/p' | sort -u \
	    >build/fuzz/keys.dict
	@cd build/fuzz && nice -n 19 bin/fuzz_scene -max_total_time=$(TIME) -dict=keys.dict \
	    -max_len=4096 -timeout=100 -rss_limit_mb=3000 -print_final_stats=1 -verbosity=1 \
	    corpus $(CURDIR)/tests/data/scenes $(CURDIR)/examples/scenes
	@cd build/fuzz && nice -n 19 bin/fuzz_mesh -max_total_time=$(TIME) -max_len=4096 -timeout=100 \
	    -rss_limit_mb=3000 -print_final_stats=1 -verbosity=1 corpus-mesh \
	    $(CURDIR)/tests/data/meshes

# Each table is printed and kept in bench/results.
bench: release
	@tools/record local-solvers build/release/bench/local_solvers
	@tools/record local-hybrid build/release/bench/local_solvers 10000000 hybrid
	@tools/record examples build/release/bench/problem_set 1e-8 examples/problems/*.hdf5
	@tools/record sweep-assembled build/release/bench/sweep 1e6
	@tools/record sweep-matrix-free build/release/bench/sweep 1e6 form=matrix-free
	@tools/record step-setup build/release/bench/step_setup 1e6
	@tools/record pairs build/release/bench/pairs

# Not part of the build: needs libsiconos-numerics-dev. ARGS='--only NAME' for a part of it.
SICONOS_INCLUDE = /usr/include/siconos
SICONOS_ABSENT  = Siconos is absent: nothing is compared (Debian package libsiconos-numerics-dev)
siconos-compare: release
	@mkdir -p build/siconos bench/results
	@[ ! -e $(SICONOS_INCLUDE)/SiconosConfig.h ] || \
	    $(CC) -std=c17 -O2 -Wall -Wextra -Iinclude -Isrc -isystem $(SICONOS_INCLUDE) \
	        -isystem $(SICONOS_INCLUDE)/numerics -isystem /usr/include/suitesparse \
	        -DSICONOS_VERSION="\"$$(dpkg-query -W -f '$${Version}' libsiconos-numerics-dev)\"" \
	        bench/siconos/*.c build/release/lib/libtalus.a -lsiconos_numerics -lsiconos_externals \
	        $$(pkg-config --cflags --libs hdf5-serial openblas lapacke) -lcholmod -lm -lpthread \
	        -o build/siconos/compare

bench-siconos: siconos-compare
	@if [ ! -e $(SICONOS_INCLUDE)/SiconosConfig.h ]; then echo '$(SICONOS_ABSENT)'; else \
	    build/siconos/compare $(if $(ARGS),$(ARGS),--csv bench/results/siconos-nsgs-1e-4.csv); \
	fi

# One solver of Talus (ARGS='--solver NAME') against the best that Siconos has for each problem; tables to OUT.
OUT ?= bench/results
bench-oracle: siconos-compare
	@if [ ! -e $(SICONOS_INCLUDE)/SiconosConfig.h ]; then echo '$(SICONOS_ABSENT)'; else \
	    for tol in 1e-4 1e-8; do \
	        build/siconos/compare --oracle --tol $$tol --csv $(OUT)/oracle-$$tol.csv \
	            $(ARGS) || exit 1; \
	    done; \
	fi

install: release
	@cmake --install build/release --prefix $(PREFIX)

clean:
	@rm -rf build

.PHONY: help setup setup-check release demo test check check-format check-tidy check-cppcheck \
	check-shell check-clang check-asan check-tsan coverage fuzz bench bench-siconos bench-oracle \
	siconos-compare install clean
