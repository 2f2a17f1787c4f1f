#include "parquet_writer.hpp"

#include "core/endian.hpp"
#include "thrift_writer.hpp"

#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace telegate::log_tool {
namespace {

constexpr std::string_view magic = "PAR1";
constexpr int compression_level = 1;
// Numbers from parquet.thrift.
constexpr std::int32_t plain_encoding = 0;
constexpr std::int32_t rle_encoding = 3;
constexpr std::int32_t data_page = 0;
constexpr std::int32_t codec_none = 0;
constexpr std::int32_t codec_zstd = 6;
constexpr std::int32_t converted_utf8 = 0;
constexpr std::int32_t format_version = 1;

std::int32_t type_of(ParquetWriter::Kind kind) noexcept {
    switch (kind) {
        case ParquetWriter::Kind::int32: return 1;
        case ParquetWriter::Kind::int64:
        case ParquetWriter::Kind::utc_ns: return 2;
        case ParquetWriter::Kind::real: return 5;
        case ParquetWriter::Kind::text: break;
    }
    return 6;
}

template <class T>
void append_little_endian(std::string& out, T value) {
    out.resize(out.size() + sizeof value);
    store_little_endian(out.data() + out.size() - sizeof value, value);
}

std::string little_endian(std::int64_t value) {
    std::string out;
    append_little_endian(out, value);
    return out;
}

void append_schema(ThriftWriter& thrift, const ParquetWriter::Column& column) {
    thrift.begin();
    thrift.i32(1, type_of(column.kind));
    thrift.i32(3, column.is_optional ? 1 : 0);
    thrift.binary(4, column.name);
    if (column.kind == ParquetWriter::Kind::text) {
        thrift.i32(6, converted_utf8);
        thrift.begin(10);
        thrift.empty_structure(1);
        thrift.end();
    } else if (column.kind == ParquetWriter::Kind::utc_ns) {
        thrift.begin(10);
        thrift.begin(8);
        thrift.boolean(1, true);
        thrift.begin(2);
        thrift.empty_structure(3);  // nanoseconds
        thrift.end();
        thrift.end();
        thrift.end();
    }
    thrift.end();
}

std::string compressed(std::string_view bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    const std::size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), compression_level);
    if (ZSTD_isError(size) != 0) {
        throw std::bad_alloc();  // the only error that is left
    }
    out.resize(size);
    return out;
}

/// Returns the levels of an optional column as a run of bits after its length in bytes: 1 for a row with a value.
std::string levels_of(const std::vector<bool>& is_present) {
    const std::size_t groups = (is_present.size() + 7) / 8;
    std::string run;
    append_varint(run, groups << 1U | 1U);
    const std::size_t begin = run.size();
    run.resize(begin + groups);
    for (std::size_t i = 0; i < is_present.size(); ++i) {
        if (is_present[i]) {
            run[begin + i / 8] = static_cast<char>(static_cast<unsigned char>(run[begin + i / 8]) | 1U << i % 8);
        }
    }
    std::string out;
    append_little_endian(out, static_cast<std::uint32_t>(run.size()));
    return out + run;
}

}  // namespace

struct ParquetWriter::Chunk {
    // Of the current page.
    std::string values;
    std::vector<bool> is_present;  // of an optional column
    bool has_value = false;        // in the current row
    // Of the current row group.
    std::string pages;
    std::int64_t raw_bytes = 0;
    std::int64_t nulls = 0;
    std::int64_t min = std::numeric_limits<std::int64_t>::max();
    std::int64_t max = std::numeric_limits<std::int64_t>::min();
};

ParquetWriter::ParquetWriter(Write write, std::vector<Column> columns, bool is_compressed)
    : write_(std::move(write)), columns_(std::move(columns)), is_compressed_(is_compressed), chunks_(columns_.size()) {
    this->write(magic);
}

ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::write(std::string_view bytes) {
    write_(bytes);
    position_ += static_cast<std::int64_t>(bytes.size());
}

void ParquetWriter::add(std::size_t column, std::int64_t value) {
    Chunk& chunk = chunks_[column];
    if (columns_[column].kind == Kind::int32) {
        append_little_endian(chunk.values, static_cast<std::int32_t>(value));
    } else {
        append_little_endian(chunk.values, value);
    }
    chunk.min = std::min(chunk.min, value);
    chunk.max = std::max(chunk.max, value);
    chunk.has_value = true;
}

void ParquetWriter::add(std::size_t column, double value) {
    append_little_endian(chunks_[column].values, value);
    chunks_[column].has_value = true;
}

void ParquetWriter::add(std::size_t column, std::string_view value) {
    append_little_endian(chunks_[column].values, static_cast<std::uint32_t>(value.size()));
    chunks_[column].values += value;
    chunks_[column].has_value = true;
}

void ParquetWriter::end_row() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i].is_optional) {
            chunks_[i].is_present.push_back(chunks_[i].has_value);
            chunks_[i].nulls += chunks_[i].has_value ? 0 : 1;
        }
        chunks_[i].has_value = false;
    }
    ++group_rows_;
    if (++page_rows_ < page_rows) {
        return;
    }
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        end_page(i);
        bytes += chunks_[i].pages.size();
    }
    page_rows_ = 0;
    if (group_rows_ >= row_group_rows || bytes >= row_group_bytes) {
        end_row_group();
    }
}

/// Appends the values that were added since the last page to the column's pages.
void ParquetWriter::end_page(std::size_t column) {
    Chunk& chunk = chunks_[column];
    const std::string raw = columns_[column].is_optional ? levels_of(chunk.is_present) + chunk.values : chunk.values;
    const std::string stored = is_compressed_ ? compressed(raw) : raw;
    const std::size_t before = chunk.pages.size();
    ThriftWriter thrift(chunk.pages);
    thrift.begin();
    thrift.i32(1, data_page);
    thrift.i32(2, static_cast<std::int32_t>(raw.size()));
    thrift.i32(3, static_cast<std::int32_t>(stored.size()));
    thrift.begin(5);
    thrift.i32(1, static_cast<std::int32_t>(page_rows_));
    thrift.i32(2, plain_encoding);
    thrift.i32(3, rle_encoding);
    thrift.i32(4, rle_encoding);
    thrift.end();
    thrift.end();
    chunk.raw_bytes += static_cast<std::int64_t>(chunk.pages.size() - before + raw.size());
    chunk.pages += stored;
    chunk.values.clear();
    chunk.is_present.clear();
}

/// Appends the description of a column of the current row group, which is written next.
void ParquetWriter::append_chunk(std::size_t column, std::string& out) const {
    const Chunk& chunk = chunks_[column];
    const Kind kind = columns_[column].kind;
    const auto rows = static_cast<std::int64_t>(group_rows_);
    ThriftWriter thrift(out);
    thrift.begin();
    thrift.i64(2, position_);
    thrift.begin(3);
    thrift.i32(1, type_of(kind));
    thrift.list(2, ThriftWriter::Type::i32, 2);
    thrift.element(plain_encoding);
    thrift.element(rle_encoding);
    thrift.list(3, ThriftWriter::Type::binary, 1);
    thrift.element(std::string_view(columns_[column].name));
    thrift.i32(4, is_compressed_ ? codec_zstd : codec_none);
    thrift.i64(5, rows);
    thrift.i64(6, chunk.raw_bytes);
    thrift.i64(7, static_cast<std::int64_t>(chunk.pages.size()));
    thrift.i64(9, position_);
    thrift.begin(12);
    thrift.i64(3, chunk.nulls);
    if ((kind == Kind::int64 || kind == Kind::utc_ns) && chunk.nulls < rows) {
        thrift.binary(5, little_endian(chunk.max));
        thrift.binary(6, little_endian(chunk.min));
    }
    thrift.end();
    thrift.end();
    thrift.end();
}

void ParquetWriter::end_row_group() {
    const std::int64_t offset = position_;
    std::int64_t raw_bytes = 0;
    std::string descriptions;
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
        append_chunk(i, descriptions);
        raw_bytes += chunks_[i].raw_bytes;
        write(chunks_[i].pages);
        chunks_[i] = Chunk();
    }
    ThriftWriter thrift(row_groups_);
    thrift.begin();
    thrift.list(1, ThriftWriter::Type::structure, columns_.size());
    row_groups_ += descriptions;
    thrift.i64(2, raw_bytes);
    thrift.i64(3, static_cast<std::int64_t>(group_rows_));
    thrift.i64(5, offset);
    thrift.i64(6, position_ - offset);
    thrift.end();
    ++row_group_count_;
    rows_ += static_cast<std::int64_t>(group_rows_);
    group_rows_ = 0;
}

void ParquetWriter::finish() {
    if (page_rows_ > 0) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            end_page(i);
        }
    }
    if (group_rows_ > 0) {
        end_row_group();
    }
    std::string end = footer();
    append_little_endian(end, static_cast<std::uint32_t>(end.size()));
    write(end.append(magic));
}

std::string ParquetWriter::footer() const {
    std::string out;
    ThriftWriter thrift(out);
    thrift.begin();
    thrift.i32(1, format_version);
    thrift.list(2, ThriftWriter::Type::structure, columns_.size() + 1);
    thrift.begin();
    thrift.binary(4, "samples");
    thrift.i32(5, static_cast<std::int32_t>(columns_.size()));
    thrift.end();
    for (const Column& column : columns_) {
        append_schema(thrift, column);
    }
    thrift.i64(3, rows_);
    thrift.list(4, ThriftWriter::Type::structure, row_group_count_);
    out += row_groups_;
    thrift.binary(6, "telegate version " TELEGATE_VERSION);
    thrift.list(7, ThriftWriter::Type::structure, columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        thrift.begin();
        thrift.empty_structure(1);  // minimum and maximum follow the order of the type
        thrift.end();
    }
    thrift.end();
    return out;
}

}  // namespace telegate::log_tool
