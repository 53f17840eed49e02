/** The program's exit codes. Scripts rely on them, so their meaning never changes. */
export const exitCodes = Object.freeze({
  failure: 1,
  usage: 2,
  missingRight: 3,
  portTaken: 4,
  missingDependency: 5,
  dataDirectory: 6,
  diskFull: 7,
  alreadyRunning: 8,
  unreachable: 9,
  /** A certificate, an authority or the clock is wrong. */
  certificates: 10,
  /** The shell's code for a program that SIGPIPE ended. */
  brokenPipe: 141,
})
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/**
 * Reports a problem that a person can solve. It is shown as one line without a stack. The message
 * says what is wrong, where, and what to do: `Cannot listen on 127.0.0.1:6443: the port is taken;
 * pass --port`.
 */
export class ExpectedError extends Error {
  override name = 'ExpectedError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
