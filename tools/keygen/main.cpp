// Generates a CURVE key pair.
#include "core/curve.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

namespace {

// From sysexits.h.
constexpr int exit_usage = 64;
constexpr int exit_cannot_create = 73;

void print(const telegate::CurveKeyPair& pair) {
    std::cout << "== CURVE PUBLIC KEY ==\n"
              << telegate::to_z85(pair.public_key) << "\n\n== CURVE SECRET KEY ==\n"
              << telegate::to_z85(pair.secret_key) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Generates a CURVE key pair in Z85, the key format of ZeroMQ.");
    app.name("telegate_keygen");
    std::string stem;
    app.add_option("STEM", stem,
                   "Write STEM.secret (mode 0600) and STEM.public instead of printing the keys; existing "
                   "files are not overwritten")
        ->check([](const std::string& text) { return std::string(text.empty() ? "must not be empty" : ""); });
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == EXIT_SUCCESS ? EXIT_SUCCESS : exit_usage;
    }
    try {
        const telegate::CurveKeyPair pair = telegate::make_curve_key_pair();
        if (app.count("STEM") == 0) {
            print(pair);
            std::cout.flush();
        } else {
            telegate::save_curve_key_pair(pair, stem);
        }
    } catch (const std::exception& error) {
        std::cerr << "telegate_keygen: " << error.what() << '\n';
        return exit_cannot_create;
    }
    if (!std::cout) {
        std::cerr << "telegate_keygen: cannot write the keys\n";
        return exit_cannot_create;
    }
    return EXIT_SUCCESS;
}
