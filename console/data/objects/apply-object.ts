/** Server-side apply of an edited object: first as a dry run, then in earnest, taking fields over only if asked. */
import { asHubError, type HubError } from '../hub/hub-error.ts'
import { askHub, askJson } from '../hub/hub-request.ts'
import { readWarnings } from '../hub/warning-header.ts'
import { editableYaml } from './editable-object.ts'

/** The name under which the server keeps the fields that people set here. */
const managerName = 'skerry-console'

export interface ApplyWish {
  readonly path: string
  readonly yaml: string
  readonly isDryRun: boolean
  /** Takes over fields that others manage. */
  readonly isForced: boolean
}

export interface Applied {
  /** The object as the server has it, or would have it. */
  readonly object: Readonly<Record<string, unknown>>
  readonly yaml: string
  readonly warnings: readonly string[]
}

export async function applyObject({ path, yaml, isDryRun, isForced }: ApplyWish): Promise<Applied> {
  const query = new URLSearchParams({ fieldManager: managerName, fieldValidation: 'Strict' })
  if (isDryRun) query.set('dryRun', 'All')
  if (isForced) query.set('force', 'true')
  const answer = await askHub(`${path}?${query.toString()}`, {
    method: 'PATCH',
    body: yaml,
    contentType: 'application/apply-patch+yaml',
  })
  // An object of the API.
  const object = (await answer.json()) as Readonly<Record<string, unknown>>
  return {
    object,
    yaml: editableYaml(object),
    warnings: readWarnings(answer.headers.get('warning') ?? ''),
  }
}

/** Resolves with the object as it is now; empty if there is none. */
export async function presentYaml(path: string): Promise<string> {
  try {
    return editableYaml(await askJson<Readonly<Record<string, unknown>>>(path, { isExact: true }))
  } catch (thrown) {
    const error = asHubError(thrown)
    if (error.isMissing) return ''
    throw error
  }
}

/**
 * Applies a change whose difference to `seen` somebody has looked at. Resolves false and applies nothing if the object is not
 * as it was then: two people who edit here are one manager to the server, which then sees no conflict between them.
 */
export async function applySeen(
  { path, yaml, isForced }: Omit<ApplyWish, 'isDryRun'>,
  seen: string,
): Promise<boolean> {
  if ((await presentYaml(path)) !== seen) return false
  await applyObject({ path, yaml, isForced, isDryRun: false })
  return true
}

export interface FieldConflict {
  readonly field: string
  /** The server's words, which name the other manager. */
  readonly message: string
}

/** Lists the fields that others manage; empty for any other error. */
export function conflictsOf(error: HubError): FieldConflict[] {
  return (error.facts.causes ?? [])
    .filter(({ reason }) => reason === 'FieldManagerConflict')
    .map(({ field, message }) => ({ field, message }))
}
