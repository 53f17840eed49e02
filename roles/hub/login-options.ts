/** The login information that a hub publishes. */
export interface LoginFlags {
  /** A public client of one of its issuers. If omitted, it publishes nothing. */
  loginClientId?: string | undefined
  loginScope?: readonly string[] | undefined
  /** Whether a user's certificate of the hub suffices to get the next one. */
  renewUserCertificates?: boolean | undefined
}
