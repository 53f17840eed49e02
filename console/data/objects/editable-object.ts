/** Objects of the API as people read and edit them. Pure. */
import { writeYaml } from './yaml-writer.ts'

interface ObjectBody {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly status?: unknown
}

/** Writes an object without its managedFields, which are longer than everything else. */
export function readableYaml(object: ObjectBody): string {
  return writeYaml(without(object, ['managedFields']))
}

const bookkeeping = [
  'managedFields',
  'creationTimestamp',
  'generation',
  'resourceVersion',
  'selfLink',
]

/**
 * Leaves out everything that a person cannot usefully change: the status, and the server's bookkeeping. Without the
 * revision, somebody else's change of another field does not conflict. The uid stays: an object that was made again under
 * the same name is not the one that was edited.
 */
export function editableYaml(object: ObjectBody): string {
  const { status: _, ...others } = object
  return writeYaml(without(others, bookkeeping))
}

function without(object: ObjectBody, names: readonly string[]): ObjectBody {
  const { metadata = {} } = object
  const kept = Object.entries(metadata).filter(([name]) => !names.includes(name))
  return { ...object, metadata: Object.fromEntries(kept) }
}
