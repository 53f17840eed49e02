import { isRuntimeError, type ContainerRuntime } from './container-runtime.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

/**
 * Stops a sandbox whatever others have mounted over the place of its network namespace. Resolves with
 * true when that was in the way.
 */
export async function stopSandbox(
  runtime: ContainerRuntime,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await ignoreNotFound(runtime.stopPodSandbox(id, signal))
    return false
  } catch (error) {
    signal.throwIfAborted()
    if (!isRuntimeError(error, 'Unknown')) throw error
    if (!(await runtime.releaseSandboxNetwork(id, signal))) throw error
    await ignoreNotFound(runtime.stopPodSandbox(id, signal))
    return true
  }
}
