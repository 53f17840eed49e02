/** The login information that a hub publishes. */
export interface LoginFlags {
  /** A public client of one of its issuers. If omitted, it publishes nothing. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** True: who has a certificate of the hub gets the next one by it. */
  renewUserCertificates?: boolean | undefined
}
