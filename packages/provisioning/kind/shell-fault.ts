/** The reasons for which a machine does not do what it is asked. */
export type ShellFault =
  /** Nothing answers, or the connection broke. */
  | 'unreachable'
  /** No machine may be at its address. */
  | 'refused'
  /** It showed a key that is not accepted. */
  | 'host-key'
  /** It does not accept the user's password or key. */
  | 'login'
  /** The user may not become root. */
  | 'root'
  /** It answers what no machine of ours would: endless output, or none in time. */
  | 'misbehaves'
  /** It refused a file, for example because the disk is full. */
  | 'file'
