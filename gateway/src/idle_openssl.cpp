// Debian's cpp-httplib has OpenSSL loaded and initialised at the start of every program, whether or not it speaks TLS:
// two megabytes that nothing here uses. This function takes the place of OpenSSL's own, which that initialisation
// calls. Whatever of OpenSSL were called all the same would initialise itself when it is needed, as OpenSSL has it.
extern "C" [[gnu::used]] int OPENSSL_init_ssl(unsigned long long options, const void* settings);

int OPENSSL_init_ssl(unsigned long long /*options*/, const void* /*settings*/) {
    return 1;  // done
}
