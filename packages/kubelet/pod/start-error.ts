/** The reasons why a container is not started now, in the words of its status (state.waiting). */
export type StartFailureReason =
  | 'InvalidImageName'
  | 'ImageInspectError'
  | 'ErrImageNeverPull'
  | 'ErrImagePull'
  | 'ImagePullBackOff'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'PostStartHookError'
  | 'CreatePodSandboxError'

export class StartError extends Error {
  override name = 'StartError'
  readonly reason: StartFailureReason
  /** The delay before another attempt is useful. If omitted, the caller's usual one. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: StartFailureReason,
    message: string,
    options: ErrorOptions & { retryAfterMs?: number } = {},
  ) {
    super(message, options)
    this.reason = reason
    this.retryAfterMs = options.retryAfterMs
  }
}
