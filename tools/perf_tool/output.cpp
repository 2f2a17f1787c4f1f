#include "output.hpp"

#include "transport/html_report.hpp"
#include "transport/matrix_report.hpp"
#include "transport/svg_report.hpp"

#include <iostream>
#include <stdexcept>

namespace telegate::perf {

namespace {

void open_file(std::ofstream& file, const std::string& path) {
    if (path.empty()) {
        return;
    }
    file.open(path);
    if (!file) {
        throw std::runtime_error("cannot write " + path);
    }
}

void close_file(std::ofstream& file, const std::string& path) {
    if (file.is_open()) {
        file.close();
        if (!file) {
            throw std::runtime_error("cannot write all of " + path);
        }
    }
}

void print_any_json(std::ostream& out, const Command::Result& result) {
    if (const auto* const matrix = std::get_if<Matrix>(&result)) {
        print_matrix_json(out, *matrix);
    } else {
        print_json(out, std::get<Report>(result));
    }
}

void print_any_text(std::ostream& out, const Command::Result& result) {
    if (const auto* const matrix = std::get_if<Matrix>(&result)) {
        print_matrix_text(out, *matrix);
    } else {
        print_text(out, std::get<Report>(result));
    }
}

[[nodiscard]] const Matrix& matrix_in(const Command::Result& result) {
    const auto* const matrix = std::get_if<Matrix>(&result);
    if (matrix == nullptr) {
        throw std::runtime_error("only transport, fanout and latency have --markdown, --html and --svg");
    }
    return *matrix;
}

}  // namespace

void Output::add_options(CLI::App& app) {
    json_ = app.add_option("--json", json_path_, "JSON, to a file or else to stdout")->expected(0, 1);
    app.add_flag("--markdown", markdown_, "Tables for a page, to stdout");
    app.add_option("--html", html_path_, "A page with charts, to a file");
    app.add_option("--svg", svg_path_, "A picture of the ratios to libzmq, to a file");
}

void Output::open() {
    open_file(json_file_, json_path_);
    open_file(html_file_, html_path_);
    open_file(svg_file_, svg_path_);
}

void Output::write(const Command::Result& result) {
    const bool json_to_stdout = json_->count() > 0 && json_path_.empty();
    if (json_->count() > 0) {
        print_any_json(json_to_stdout ? std::cout : json_file_, result);
    }
    if (!html_path_.empty()) {
        print_matrix_html(html_file_, matrix_in(result));
    }
    if (!svg_path_.empty()) {
        print_matrix_svg(svg_file_, matrix_in(result));
    }
    close_file(json_file_, json_path_);
    close_file(html_file_, html_path_);
    close_file(svg_file_, svg_path_);
    if (markdown_) {
        print_matrix_markdown(std::cout, matrix_in(result));
    } else if (!json_to_stdout) {
        print_any_text(std::cout, result);
    }
}

}  // namespace telegate::perf
