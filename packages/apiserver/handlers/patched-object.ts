import {
  StatusError,
  fieldInvalid,
  isJsonObject,
  type AnyObject,
  type JsonObject,
} from '@skerry/api'
import { decodingDetail, unconvertible, undecodable, printGo, type Steps } from '@skerry/bodies'
import { typedSteps, type DecodeRequest } from '../registry/decode.ts'
import { apiVersionOf } from '../registry/kind-reader.ts'
import { paced } from '../registry/request-scope.ts'
import { badRequest, unnamed } from '../registry/registry-errors.ts'

export interface Patch {
  /** Applies the patch to any JSON object. A pure function. */
  readonly patch: (current: AnyObject) => Steps<unknown>
  readonly findings: readonly string[]
  /** The value of a strategic merge patch; omitted for other patches. */
  readonly merged?: unknown
}

type PatchRequest = Pick<
  DecodeRequest,
  'kind' | 'fieldValidation' | 'warn' | 'isRegistered' | 'pace'
>

/**
 * Returns the object of the kind that results from a patch. Throws StatusError Invalid if the
 * result is not an object of the kind, since the patch is wrong then, and BadRequest if it has no
 * name.
 */
export async function patchedObject(
  current: AnyObject,
  { patch, findings, merged }: Patch,
  request: PatchRequest,
): Promise<AnyObject> {
  const patched = await paced(patch(current), request)
  await request.pace?.pause()
  if (!isJsonObject(patched)) throw badRequest('error decoding patch: the result is not an object')
  const isMerged = merged !== undefined
  const isUnread = !isMerged && !request.kind.isCustom && (patched['apiVersion'] ?? '') === ''
  const made =
    (isMerged ? mistypedName(patched) : undecodedType(patched, request)) ??
    (await typedOrWrong(
      isUnread ? {} : patched,
      isUnread ? [...findings, ...unread(patched)] : findings,
      {
        ...request,
        isMerged,
      },
    ))
  if (typeof made !== 'string') {
    if (made.metadata.name) return made
    throw unnamed(current.metadata.name ?? '')
  }
  const shown = isMerged ? printGo(merged) : JSON.stringify(patched)
  const cause = fieldInvalid('patch', shown, made)
  throw new StatusError('Invalid', ` "" is invalid: patch: ${cause.message}`, {
    details: { causes: [cause] },
  })
}

/** Returns the object, or the reason why it is not one. */
async function typedOrWrong(
  patched: JsonObject,
  findings: readonly string[],
  request: Omit<PatchRequest, 'isRegistered'> & { readonly isMerged: boolean },
): Promise<AnyObject | string> {
  try {
    return await paced(typedSteps(patched, findings, request), request)
  } catch (error) {
    const detail = decodingDetail(error)
    if (detail === undefined) throw error
    return detail
  }
}

/** A merged map is read as the kind, whatever kind it names, as long as that is a text. */
function mistypedName({ kind, apiVersion }: JsonObject): string | undefined {
  const value = [apiVersion ?? '', kind ?? ''].find((each) => typeof each !== 'string')
  return value === undefined
    ? undefined
    : unconvertible(value, { schema: { type: 'string' } }).message
}

/** Without a version upstream reads JSON as an object that has no fields. */
function unread({ kind: _kind, apiVersion: _version, ...fields }: JsonObject): string[] {
  const names = Object.keys(fields).toSorted()
  return names.map((name) => `unknown field ${JSON.stringify(name)}`)
}

/** Returns why JSON cannot be read as the kind that it names. */
function undecodedType(
  patched: JsonObject,
  { kind: { group, version, kind, isCustom }, isRegistered }: PatchRequest,
): string | undefined {
  if (isCustom) return undefined
  const apiVersion = patched['apiVersion'] ?? ''
  const named = patched['kind'] ?? ''
  if (typeof named !== 'string') return mistyped('kind', named)
  if (typeof apiVersion !== 'string') return mistyped('apiVersion', apiVersion)
  const isOwn = (named || kind) === kind && apiVersion === apiVersionOf(group, version)
  if (isOwn || apiVersion === '') return undefined
  if (apiVersion.split('/').length > 2) return `unexpected GroupVersion string: ${apiVersion}`
  if (isRegistered(apiVersion, named || kind)) return undefined
  return `no kind ${JSON.stringify(named || kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`
}

function mistyped(name: string, value: unknown): string {
  const { message } = undecodable(value, { where: `struct field .${name}`, type: 'string' })
  return `couldn't get version/kind; json parse error: ${message}`
}

/** Returns the result of an apply. Upstream fails to convert a value that has passed its type check. */
export async function typedApplied(
  next: AnyObject,
  findings: readonly string[],
  request: Omit<PatchRequest, 'isRegistered'> & { readonly configuration: AnyObject },
): Promise<AnyObject> {
  const { kind, configuration } = request
  const made = await typedOrWrong({ ...next }, findings, { ...request, isMerged: !kind.isCustom })
  if (typeof made !== 'string') return made
  const type = `${kind.group}/${kind.version}, Kind=${kind.kind}`
  const { namespace = '', name = '' } = configuration.metadata
  const what = `failed to convert new object (${namespace}/${name}; ${type}) to proper version`
  const why = `unable to convert unstructured object to ${type}: ${made}`
  throw new StatusError('Unknown', `${what}: ${why}`)
}
