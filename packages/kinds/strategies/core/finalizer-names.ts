import { fieldInvalid, checkQualifiedName } from '@skerry/api'
import { addInvalid, type Found } from '../checks.ts'

const standard = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Finalizers of a namespace's content. */
export function checkFinalizer(name: string, field: string, found: Found): void {
  addInvalid(found, field, name, checkQualifiedName(name))
  if (name.includes('/') || standard.includes(name)) return
  const detail = 'name is neither a standard finalizer name nor is it fully qualified'
  found.push(fieldInvalid(field, name, detail))
}
