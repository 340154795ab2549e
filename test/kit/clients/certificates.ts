/** Certificates that nobody has signed but themselves, for servers of a test; good for a hundred years. */

/** PEM text. */
export interface Certificate {
  /** What it says it is for. */
  readonly name: string;
  readonly cert: string;
  readonly key: string;
}

export const CERTIFICATES: readonly [Certificate, Certificate] = [
  {
    name: 'one.test',
    cert: `-----BEGIN CERTIFICATE-----
MIIBfDCCASOgAwIBAgIUSSHHkJy2uji03d3U3PfnZnvGuAUwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIb25lLnRlc3QwIBcNMjYxMTIwMDkzMzI1WhgPMjEyNjEwMjcw
OTMzMjVaMBMxETAPBgNVBAMMCG9uZS50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE5c/zzvkgalTxFGZjxdkqrvflrRIM7m6J+rcsEhWmlwgP+K61S6rHLWmR
lQ5rfrSwcmLH+geW9WH86TBfL05zjaNTMFEwHQYDVR0OBBYEFK6UT13yqZreuIIo
XA2xYeiIgmI6MB8GA1UdIwQYMBaAFK6UT13yqZreuIIoXA2xYeiIgmI6MA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgbzzTfN8T7dUR0qvdb5PH3yWE
xm/yfaIU9wyXnCHLXAcCIDFfkjPT+8/K453XqG2ebYfkDH9aPRANUE7V/GyXnhcA
-----END CERTIFICATE-----
`,
    key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOfA3a6H5NqDhq1Gx
OotwJKuU8qvSphedjNhIqNgyov6hRANCAATlz/PO+SBqVPEUZmPF2Squ9+WtEgzu
bon6tywSFaaXCA/4rrVLqsctaZGVDmt+tLByYsf6B5b1YfzpMF8vTnON
-----END PRIVATE KEY-----
`,
  },
  {
    name: 'two.test',
    cert: `-----BEGIN CERTIFICATE-----
MIIBfTCCASOgAwIBAgIUZETIpm9aIFSLQfFoNNf+NFycSUQwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIdHdvLnRlc3QwIBcNMjYxMTIwMDkzMzI1WhgPMjEyNjEwMjcw
OTMzMjVaMBMxETAPBgNVBAMMCHR3by50ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAEFD/mQp3NbQqPbF2rYWrS80JfP7+b9qbZ+WtGMqnEGMCEapmV9pXj0u7/
QctiBlNZtnno7LTDS+YnDJqpeJTcC6NTMFEwHQYDVR0OBBYEFNfWR1w51tISWoP7
ciVcW0j6K78fMB8GA1UdIwQYMBaAFNfWR1w51tISWoP7ciVcW0j6K78fMA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJ6MolJbSy4nNoGdZDHFNsQ+
tV4GvmkYFXUhBOvBSvmIAiAM0SO8HdyZ3v0jrLHAQjaseHV5Crd2al5DB3l2rNLi
8g==
-----END CERTIFICATE-----
`,
    key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOkt3XWwo0ZH4odgy
BjyuwNM1twT/XOhQxDS6/tJjsSKhRANCAAQUP+ZCnc1tCo9sXathatLzQl8/v5v2
ptn5a0YyqcQYwIRqmZX2lePS7v9By2IGU1m2eejstMNL5icMmql4lNwL
-----END PRIVATE KEY-----
`,
  },
];

/** For `localhost` and 127.0.0.1, so that a client that trusts it connects. */
export const LOCALHOST: Certificate = {
  name: 'localhost',
  cert: `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUZXUQ52q3T/T2rf+1+qzLQj2FfQ0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyNDAyMzYwOVoYDzIxMjYxMDMx
MDIzNjA5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQj4uX6fguz8toJixu+HJqQrXEKmC+8ntAcXiii/7ZeL+nCgkcUmf9K
pVFAZU0HarfBW7WR5okJ7MILI5kSYi47o28wbTAdBgNVHQ4EFgQUKwN16FJsoYID
8oV6gf7QLgCBcbwwHwYDVR0jBBgwFoAUKwN16FJsoYID8oV6gf7QLgCBcbwwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIgFLqyxTsmfjki9TVvLdTYoqrZ9tBk7/TLlOAPaO31qK0CIQDQ
Vv/7aqWkPoCP+1r2aioHmNqQzFhBOa5YP7ppcmkjgQ==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgd7mBcIt6ltoCoKEu
J/IaERITFBufhsT3KUdGbUJe9nihRANCAAQj4uX6fguz8toJixu+HJqQrXEKmC+8
ntAcXiii/7ZeL+nCgkcUmf9KpVFAZU0HarfBW7WR5okJ7MILI5kSYi47
-----END PRIVATE KEY-----
`,
};
