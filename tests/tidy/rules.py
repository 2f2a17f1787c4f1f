"""The house rules as functions: each takes a path (relative to the root) and a text, and returns its findings."""

import graphlib
import json
import re
from pathlib import PurePosixPath

ROOMS = ("core", "store", "uplink", "config", "device", "gateway")
# Rooms whose public headers each room may include. The headers of gateway are not included anywhere else.
MAY_INCLUDE = {
    "core": ("core",),
    "store": ("store", "core"),
    "uplink": ("uplink", "store", "core"),
    "config": ("config", "core"),
    "device": ("device", "core"),
    "gateway": ("config", "core", "device", "store", "uplink"),
    "tools": ("config", "core", "device", "store", "uplink"),
    "tests": ("config", "core", "device", "store", "uplink"),
}
# Files that describe a driver or a type of uplink to the settings and the gateway. The rest of these rooms does not
# depend on config.
TYPE_ROWS = re.compile(r"uplink/(include/uplink/uplink_row\.hpp|src/types/\w+\.[ch]pp|src/\w+/\w+_(options|settings)\.[ch]pp)|"
                       r"device/(include/device/(driver_row|common_settings)\.hpp|src/(driver_table|common_settings)\.cpp|src/\w+/\w+_(settings|warnings)\.[ch]pp)")
# The driver that plays durable logs reads them with the reader of the log.
LOG_PLAYER = re.compile(r"device/src/replay/\w+\.[ch]pp")
# Files that may include one room more than the others of their room.
ONE_MORE = {"config": TYPE_ROWS, "store": LOG_PLAYER}
# Names in std by the standard header that a file must include to use them.
STANDARD_HEADERS = {
    "algorithm":
        "adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal fill fill_n "
        "find find_end find_if find_if_not for_each generate includes inplace_merge is_sorted lower_bound max "
        "max_element min min_element minmax none_of nth_element partition partition_point remove_if replace "
        "replace_if reverse rotate search shuffle sort stable_partition stable_sort transform unique "
        "upper_bound",
    "any": "any any_cast",
    "array": "array to_array",
    "atomic":
        "atomic atomic_flag atomic_ref atomic_signal_fence atomic_thread_fence memory_order_acq_rel "
        "memory_order_acquire memory_order_relaxed memory_order_release memory_order_seq_cst",
    "bit": "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian popcount rotl",
    "charconv": "chars_format from_chars to_chars",
    "chrono": "chrono chrono_literals",
    "cmath":
        "ceil copysign fabs floor fmod isfinite isinf isnan llround log log10 lround modf nan pow round "
        "signbit sin sqrt trunc",
    "concepts": "convertible_to floating_point integral invocable same_as unsigned_integral",
    "condition_variable": "condition_variable condition_variable_any",
    "csignal": "raise sig_atomic_t signal",
    "cstddef": "byte max_align_t nullptr_t ptrdiff_t size_t to_integer",
    "cstdint": "int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uint_fast32_t uintmax_t uintptr_t",
    "cstdio": "fclose fflush fopen fprintf fputs fread printf puts rename snprintf",
    "cstdlib": "abort exit free getenv malloc quick_exit strtod strtol",
    "cstring": "memchr memcmp memcpy memmove memset strerror strlen",
    "ctime": "clock clock_t strftime time_t tm",
    "deque": "deque",
    "exception": "current_exception exception exception_ptr rethrow_exception terminate",
    "filesystem": "filesystem",
    "forward_list": "forward_list",
    "fstream": "fstream ifstream ofstream",
    "functional":
        "bind_front cref equal_to function greater greater_equal hash invoke less not_fn ref "
        "reference_wrapper",
    "future": "async future future_status launch packaged_task promise shared_future",
    "initializer_list": "initializer_list",
    "iomanip": "setfill setprecision setw",
    "iosfwd": "ostream",
    "iostream": "cerr cin clog cout flush ostream",
    "iterator":
        "back_inserter begin data distance end inserter istream_iterator istreambuf_iterator "
        "make_move_iterator next prev reverse_iterator size ssize",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map multimap",
    "memory":
        "addressof allocator allocator_traits construct_at destroy_at enable_shared_from_this make_shared "
        "make_shared_for_overwrite make_unique make_unique_for_overwrite shared_ptr static_pointer_cast "
        "unique_ptr weak_ptr",
    "shared_mutex": "shared_lock shared_mutex",
    "mutex":
        "adopt_lock call_once defer_lock lock_guard mutex once_flag recursive_mutex scoped_lock try_to_lock "
        "unique_lock",
    "new":
        "align_val_t bad_alloc get_new_handler hardware_destructive_interference_size launder new_handler nothrow "
        "nothrow_t set_new_handler",
    "numbers": "numbers",
    "numeric": "accumulate gcd iota lcm reduce",
    "ostream": "flush ostream",
    "optional": "make_optional nullopt nullopt_t optional",
    "queue": "priority_queue queue",
    "random":
        "bernoulli_distribution discrete_distribution minstd_rand mt19937 mt19937_64 normal_distribution "
        "random_device seed_seq uniform_int_distribution uniform_real_distribution",
    "regex": "cmatch regex regex_match regex_replace regex_search smatch sregex_iterator",
    "set": "multiset set",
    "span": "as_bytes as_writable_bytes dynamic_extent span",
    "sstream": "istringstream ostringstream stringstream",
    "stdexcept":
        "domain_error invalid_argument length_error logic_error out_of_range overflow_error range_error "
        "runtime_error",
    "stop_token": "stop_callback stop_source stop_token",
    "string": "getline stod stof stoi stol stoll stoul stoull string string_literals to_string u16string",
    "string_view": "string_view string_view_literals",
    "system_error":
        "errc error_category error_code error_condition generic_category make_error_code system_category "
        "system_error",
    "thread": "jthread this_thread thread",
    "tuple": "apply forward_as_tuple make_tuple tie tuple tuple_element_t tuple_size_v",
    "type_traits":
        "conditional_t decay_t enable_if_t false_type has_unique_object_representations_v integral_constant "
        "invoke_result_t is_arithmetic_v is_base_of_v is_const_v is_constant_evaluated is_constructible_v is_convertible_v is_enum_v is_floating_point_v "
        "is_integral_v is_invocable_v is_nothrow_move_constructible_v is_pointer_v is_same_v is_signed_v "
        "is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v make_signed_t make_unsigned_t "
        "remove_const_t remove_cv_t remove_cvref_t remove_reference_t true_type type_identity type_identity_t underlying_type_t void_t",
    "unordered_map": "unordered_map unordered_multimap",
    "unordered_set": "unordered_set",
    "utility":
        "as_const cmp_less declval exchange forward in_place in_place_t in_place_type index_sequence "
        "make_index_sequence move pair piecewise_construct to_underlying",
    "variant":
        "bad_variant_access get_if holds_alternative in_place_index monostate variant variant_alternative_t "
        "variant_size_v visit",
    "vector": "vector",
}
# Names declared in several headers, or by every stream or container.
IN_MANY_STANDARD_HEADERS = frozenset(
    "FILE _Exit abs defaultfloat erase erase_if fixed get ios isalpha left micro milli ranges right swap".split())
# Namespaces of other projects, with the prefixes of their header names.
OTHER_HEADERS = {"nlohmann": "nlohmann/", "httplib": "httplib.h", "CLI": "CLI/", "spdlog": "spdlog/", "re2": "re2/",
                 "moodycamel": "concurrentqueue.h", "boost::asio": "boost/asio"}
# Folders in which includes in quotes are searched, after the folder of the including file.
INCLUDE_FOLDERS = ("core/include", "store/include", "uplink/include", "config/include", "device/include", "core/src", "store/src",
                   "uplink/src", "config/src", "device/src", "gateway/src", "tools", "tools/perf_tool", "tests")
SOURCE_LINES_MAX = 600
MAIN_LINES_MAX = 80
README_LINES_MAX = {"README.md": 200, "core/README.md": 110, "core/src/zmtp/README.md": 130}
ROOM_README_LINES_MAX = 40

SLEEP = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep)\b|\btime\.sleep\b|\bsleep\s*\(|^\s*sleep\s+[\d.$]", re.M)
# Reserved names except those that the compiler, the system or its C library define.
RESERVED = re.compile(r"\b(?!_SC_|__libc_|__nss_|__builtin_|__(?:asm|volatile|FILE|LINE|VERSION|clang|clang_version|x86_64|i386|"
                      r"aarch64|arm|SANITIZE_THREAD)__\b|__has_feature\b|_Exit\b)(?:_[A-Z]\w*|\w*__\w*)\b")
LEFTOVER = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")  # split, so that this line does not match itself

# Atomics and their memory orders. A file that orders memory must be named by a model in tests/models; a file that only
# has atomics must be named there or here, with the reason why no memory order matters.
ATOMIC = re.compile(r"\bstd::atomic(<|_ref\b|_flag\b)")
ORDERED = re.compile(r"\bmemory_order_(acquire|release|acq_rel|seq_cst)\b|\batomic_(thread|signal)_fence\b")
ORDERS_NOTHING = {
    "counts": (
        "core/include/core/histogram.hpp", "core/src/base/host_lookup.cpp", "gateway/src/http/http_budget.hpp",
        "gateway/src/rest/rest_traffic.cpp", "gateway/src/rest/rest_traffic.hpp",
        "tools/perf_tool/pipeline/receiver.hpp"),
    "is a value or a hint that may be read late": (
        "core/src/reactor/reactor.cpp", "core/src/reactor/reactor_state.hpp", "device/include/device/clock_watch.hpp",
        "gateway/src/app/gateway.hpp", "gateway/src/durable/log_history.hpp", "gateway/src/http/tls_context.cpp",
        "tools/perf_tool/round_trips.hpp", "uplink/include/uplink/uplink_runner.hpp"),
    "is ordered by a mutex, a posted call or the end of a thread": (
        "core/src/shards/shard.hpp", "device/include/device/gateway_driver.hpp",
        "device/src/gateway/gateway_driver.cpp", "gateway/src/durable/durable_log.cpp",
        "gateway/src/durable/durable_log.hpp", "gateway/src/events/events.cpp", "gateway/src/events/events.hpp",
        "gateway/src/rest/rest_server.hpp", "gateway/src/uplinks/uplinks.hpp"),
    "only decides which thread is first or last": (
        "gateway/src/app/gateway.cpp", "gateway/src/uplinks/uplinks.cpp", "tools/perf_tool/queue_engines.hpp"),
}


def lines_matching(text, pattern, what):
    found = (match.start() for match in pattern.finditer(text))
    return [f"line {text.count(chr(10), 0, start) + 1}: {what}" for start in found]


def too_long(text, lines_max):
    count = len(text.splitlines())
    return [f"{count} lines; at most {lines_max} are allowed"] if count > lines_max else []


def source_length(path, text):
    return too_long(text, MAIN_LINES_MAX if path.endswith("/src/app/main.cpp") else SOURCE_LINES_MAX)


def readme_length(path, text):
    return too_long(text, README_LINES_MAX.get(path, ROOM_README_LINES_MAX))


def include_direction(path, text, exists):
    """`exists` returns whether a path relative to the root is a file."""
    room = path.split("/")[0]
    findings = []
    for opening, name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', text, re.M):
        first = name.split("/")[0]
        if name.endswith(".cpp"):
            findings.append(f'"{name}": source files must be compiled, not included')
        if opening == "<":
            if any(exists(f"{other}/include/{name}") for other in ROOMS):
                findings.append(f"<{name}>: headers of this project must be included in quotes")
            continue
        if first in ROOMS and exists(f"{first}/include/{name}"):
            if first not in MAY_INCLUDE[room] and not (first in ONE_MORE and ONE_MORE[first].fullmatch(path)):
                findings.append(f'"{name}": {room} must not include {first}')
        elif not is_own_header(path, name, exists):
            findings.append(f'"{name}": neither a public header of a room nor a private header of {room}')
    return findings


def is_own_header(path, name, exists):
    folder = PurePosixPath(path).parent
    room = path.split("/")[0]
    places = [str(folder), f"{room}/src"]
    if room == "tests":  # tests mirror the rooms and may include the private headers of what they test
        places += ["tests", "tools", "tools/perf_tool"] + [f"{other}/src" for other in ROOMS]
    if path.startswith("tools/gateway_") and name.startswith(("base/", "encode/")):  # use its code for notices and times
        places += ["gateway/src"]
    if path.startswith("tools/gateway_verify/") and name.startswith("nats/"):  # connects as uplinks do
        places += ["uplink/src"]
    if path.startswith(("tools/perf_tool/", "tools/reference/")):  # they measure parts of the sample path and print its tables
        places += ["tools/perf_tool", "core/src", "gateway/src"]
    if path.startswith(("tools/gateway_log/", "tools/gateway_verify/")):  # print samples and ranges as the other tools do
        places += ["tools"]
    if path.startswith("tools/reference/"):  # generates pages from the tables
        places += ["gateway/src"]
    return any(exists(f"{place}/{name}") for place in places)


def folder_links(cmake_text):
    """Returns the folders that each folder of a room may use, in the order of its CMakeLists.txt."""
    calls = re.findall(r"^telegate_folder\((\w+)([^)]*)\)", cmake_text, re.M)
    return {name: re.split(r"\bLIBS\b", rest.partition("FOLDERS")[2])[0].split() for name, rest in calls}


def folder_order(links):
    """A folder may use only folders before it, so that there are no cycles."""
    names = list(links)
    return [f"{name}: uses {used}, which does not come before it" for name in names for used in links[name]
            if used not in names[:names.index(name)]]


def folder_includes(path, text, links):
    """`links` is the result of folder_links() for the room of `path`."""
    folder = path.split("/")[2]
    used = re.findall(r'^#include "(\w+)/', text, re.M)
    return [f'"{other}/": {folder} does not list this folder in its CMakeLists.txt' for other in used
            if other in links and other != folder and other not in links[folder]]


def folder_cycle(texts):
    """Returns folders of a room that include each other in a circle. `texts` are the contents of its sources by path."""
    used = {}
    for path, text in texts.items():
        folder = path.split("/")[2]
        used.setdefault(folder, set()).update(set(re.findall(r'^#include "(\w+)/', text, re.M)) - {folder})
    try:
        graphlib.TopologicalSorter(used).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


# Folders or files in which headers of other projects may be included, by the prefixes of the header names.
MAY_INCLUDE_OTHERS = {
    "boost/asio": ("core/src/reactor/", "gateway/src/http/", "uplink/src/influxdb/"),
    "boost/beast": ("gateway/src/http/", "uplink/src/influxdb/"),
    "nlohmann/": ("gateway/src/", "tools/", "tests/", "uplink/src/link/", "uplink/src/nats/"),
    "spdlog/": ("gateway/src/log/", "tests/gateway/"),
    "httplib.h": ("tools/perf_tool/", "tests/"),
    "openssl/": ("gateway/src/http/", "device/src/http/", "uplink/src/influxdb/", "uplink/src/link/", "tests/"),
    "nats/": ("tools/gateway_verify/", "tools/perf_tool/"),
    "CLI/": ("gateway/src/app/", "tools/", "tests/"),
}


def other_includes(path, text):
    return [f"<{name}>: allowed only in {' and '.join(places)}"
            for begin, places in MAY_INCLUDE_OTHERS.items()
            for name in re.findall(rf"^#include <({re.escape(begin)}[^>]*)>", text, re.M) if not path.startswith(places)]


def outside_includes(path, text, all_includes):
    """`all_includes` returns the names of the headers that a file includes, directly or through this project's headers."""
    present = all_includes(path)
    code = code_only(text)
    findings = []
    for name in sorted(set(re.findall(r"\bstd::(\w+)", code)) - IN_MANY_STANDARD_HEADERS):
        headers = [header for header, names in STANDARD_HEADERS.items() if name in names.split()]
        if not present.intersection(headers):
            findings.append(f"std::{name} without <{'> or <'.join(headers) or 'a header that rules.py lists'}>")
    for space, begin in OTHER_HEADERS.items():
        is_declared_here = re.search(rf"\bnamespace {space}\b", code)
        if re.search(rf"\b{space}::", code) and not is_declared_here and not any(header.startswith(begin) for header in present):
            findings.append(f"{space}:: without one of its headers")
    return findings


def unused_using(path, text):
    code = code_only(text)
    return [f"unused declaration: using {name}" for name, last in re.findall(r"^\s*using ((?:\w+::)+(\w+));", code, re.M)
            if len(re.findall(rf"(?<!::)\b{last}\b", code)) == 0]


def files_of_models(texts):
    """Returns the files that the models name."""
    return {path for text in texts for path in re.findall(r"\b[a-z]+/[\w/]+\.[ch]pp\b", text)}


def unmodeled_atomics(path, text, modeled):
    is_listed = any(path in paths for paths in ORDERS_NOTHING.values())
    code = code_only(text)
    if path in modeled:
        return ["has a model and is in ORDERS_NOTHING"] if is_listed else []
    if is_listed:
        return lines_matching(code, ORDERED, "orders memory, so a model must name the file") or (
            [] if ATOMIC.search(code) else ["is in ORDERS_NOTHING, but has no atomic"])
    return lines_matching(code, re.compile(f"{ATOMIC.pattern}|{ORDERED.pattern}"),
                          "an atomic in a file that no model names")


def sleeps(path, text):
    return lines_matching(text, SLEEP, "a sleep; wait for the condition with support/eventually.hpp")


def console_output(path, text):
    return lines_matching(text, re.compile(r"\bstd::cout\b"), "std::cout; only tools and main() print")


def code_only(text):
    """Removes strings, characters and comments; line numbers do not change."""
    return re.sub(r"""'(?:[^'\\\n]|\\.)'|R"(\w*)\((?:.|\n)*?\)\1"|"(?:[^"\\\n]|\\.)*"|//.*""", lambda match: "\n" * match[0].count("\n"), text)


def reserved_names(path, text):
    return lines_matching(code_only(text), RESERVED, "a reserved name")


def leftovers(path, text):
    return lines_matching(text, LEFTOVER, "an unfinished part; complete or remove it")


def test_names(path, text):
    """Catch2 treats a name that starts with a dash as an option, and one that starts with a bracket as a tag."""
    return lines_matching(text, re.compile(r'\bTEST_CASE\(\s*"[^A-Za-z0-9]'), "the name of a test must start with a word")


def test_cases(path, text):
    """ctest runs the tests of a sanitizer build by the name of their source file."""
    return lines_matching(text, re.compile(r"\bTEST_CASE\("), "tests must be in files whose names end in _test.cpp")


def namespace_in_header(path, text):
    # Code in namespaces is not indented, so an indented declaration is inside a function.
    return lines_matching(text, re.compile(r"^using\s+namespace\b", re.M), "using namespace in a header")


def header_guard(path, text):
    return [] if text.startswith("#pragma once\n") else ["does not start with #pragma once"]


def preset_texts(path, text):
    """Every configure preset must have a description that is a sentence; visible ones must have a display name."""
    findings = []
    for preset in json.loads(text).get("configurePresets", []):
        if not preset.get("description", "").endswith("."):
            findings.append(f"{preset['name']}: the description is not a sentence")
        if not preset.get("hidden") and not preset.get("displayName"):
            findings.append(f"{preset['name']}: no displayName")
    return findings


def preset_twins(path, text):
    """Every configure preset must have a build preset and a test preset with the same name."""
    presets = json.loads(text)
    names = {kind: {p["name"] for p in presets.get(kind, []) if not p.get("hidden")}
             for kind in ("configurePresets", "buildPresets", "testPresets")}
    return [f"{name}: missing among the {kind}"
            for kind in ("buildPresets", "testPresets")
            for name in sorted(names["configurePresets"] - names[kind])]
