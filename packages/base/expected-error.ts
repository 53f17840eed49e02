/** Exit codes of the program; scripts rely on them, so they never change meaning. */
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
  /** A certificate, an authority or the clock is off. */
  certificates: 10,
  /** As a shell says of a program that SIGPIPE ended. */
  brokenPipe: 141,
})
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/**
 * Something a person can put right. Shown as one line without a stack; the message says what was
 * wrong, where, and what to do: `Cannot listen on 127.0.0.1:6443: the port is taken; pass --port`.
 */
export class ExpectedError extends Error {
  override name = 'ExpectedError'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
