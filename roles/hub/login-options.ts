/** What a hub tells those who want to log in. */
export interface LoginFlags {
  /** A public client of one of its issuers; absent: it tells nothing. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** True: who has a certificate of the hub gets the next one by it. */
  renewUserCertificates?: boolean | undefined
}
