import { StatusError } from '@skerry/api'

/** Reports the API server's error when a pod was to be bound. The pod's event shows it unchanged. */
export class BindingError extends Error {
  override readonly name = 'BindingError'
}

/**
 * Runs a plugin's part of a binding. Rejects with BindingError, in upstream's words, if the server
 * refuses.
 */
export async function asPlugin<T>(
  { name, point }: { name: string; point: 'PreBind' | 'Bind' },
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    const message = `running ${point} plugin "${name}": ${error.message}`
    throw new BindingError(message, { cause: error })
  }
}
