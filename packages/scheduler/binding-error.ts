import { StatusError } from '@skerry/api'

/** What the API server said when a pod was to be bound; told to the pod as it is. */
export class BindingError extends Error {
  override readonly name = 'BindingError'
}

/** Does a plugin's part of a binding. Rejects with BindingError, in upstream's words, where the server refuses. */
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
