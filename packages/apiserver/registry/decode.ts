import {
  fieldInvalid,
  isJsonObject,
  type AnyObject,
  type JsonObject,
  type Kind,
  type StatusError,
} from '@skerry/api'
import {
  checkFields,
  nullEmptyLists,
  setDeclaredDefaults,
  strictDecodingError,
  undecodable,
  undecodedObject,
  decodeBodyBy,
  inBodyOrder,
  objectOfBody,
  runSteps,
  type ReadYaml,
  type Steps,
} from '@skerry/bodies'
import { apiVersionOf } from './kind-reader.ts'
import { badRequest, invalid } from './registry-errors.ts'
import { paced, type FieldValidation, type Pace } from './request-scope.ts'

export interface DecodeRequest {
  readonly kind: Kind
  /** Further versions of the body's kind with the same fields, e.g. policy/v1beta1. Default: none. */
  readonly sameVersions?: readonly string[] | undefined
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly fieldValidation: FieldValidation
  readonly bytesMax: number
  readonly readYaml: ReadYaml
  readonly warn: (text: string) => void
  /** Returns true if the server has a kind of this name in this group and version. */
  readonly isRegistered: (apiVersion: string, kind: string) => boolean
  readonly pace?: Pace | undefined
}

/** Decodes a request's body as an object of the kind: known fields only, correct types, defaults set. */
export async function decodeKindObject(request: DecodeRequest): Promise<AnyObject> {
  const { kind, bytes, contentType, fieldValidation, bytesMax, readYaml } = request
  const options = { isStrict: fieldValidation !== 'Ignore', bytesMax, typeName: kind.kind }
  const body = await decodeBodyBy(readYaml, bytes, contentType, options)
  const { object, duplicates } = objectOfBody(body, bytes, options)
  requireKind(object, request)
  await request.pace?.pause()
  const steps = typedSteps(object, duplicates, {
    ...request,
    order: (findings) => (kind.isCustom ? findings : inBodyOrder(bytes, findings)),
  })
  return paced(steps, request)
}

type TypedRequest = Pick<DecodeRequest, 'kind' | 'fieldValidation' | 'warn'> & {
  readonly order?: (findings: readonly string[]) => readonly string[]
  /** See checkFields. */
  readonly isMerged?: boolean
}

/** Checks a JSON object for any write, so that the registry can trust its shape. */
export function typedObject(
  object: Record<string, unknown>,
  findings: readonly string[],
  request: TypedRequest,
): AnyObject {
  return runSteps(typedSteps(object, findings, request))
}

export function* typedSteps(
  object: Record<string, unknown>,
  findings: readonly string[],
  request: TypedRequest,
): Steps<AnyObject> {
  const { kind, fieldValidation, warn, order = (all) => all, isMerged = false } = request
  const metadata = object['metadata'] ?? {}
  if (!isJsonObject(metadata)) throw wrongMetadata({ ...object, metadata }, kind, isMerged)
  const typed: AnyObject = {
    ...object,
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    metadata,
  }
  const unknownFields = kind.strategy.onDecode
    ? kind.strategy.onDecode(typed)
    : checkFields({
        object: typed,
        schemas: kind.schemas,
        schemaName: kind.schemaName,
        kind: kind.kind,
        isMerged,
      }).unknownFields
  const all = fieldValidation === 'Ignore' ? [] : [...findings, ...unknownFields]
  report(order(all), { kind, object: typed, fieldValidation, warn })
  yield
  setDefaults(typed, kind)
  return typed
}

/** Returns the error for metadata that is not an object, unless another error comes first. */
function wrongMetadata(object: JsonObject, kind: Kind, isMerged: boolean): StatusError {
  const { schemas, schemaName } = kind
  const named = { ...object, apiVersion: apiVersionOf(kind.group, kind.version), kind: kind.kind }
  if (!kind.isCustom) {
    checkFields({ object: named, schemas, schemaName, kind: kind.kind, isMerged })
  }
  const where = `struct field ${kind.kind}.metadata`
  const cause = undecodable(object['metadata'], { where, type: 'v1.ObjectMeta' })
  return undecodedObject({ object: named, kind: kind.kind }, cause.message, cause)
}

function report(
  findings: readonly string[],
  request: { kind: Kind; object: AnyObject } & Pick<DecodeRequest, 'fieldValidation' | 'warn'>,
): void {
  if (findings.length === 0) return
  const { kind, object, fieldValidation, warn } = request
  if (fieldValidation === 'Strict') throw strictDecodingError(findings, { object, kind: kind.kind })
  if (fieldValidation === 'Warn') for (const finding of findings) warn(finding)
}

/** Call this before an object is prepared, compared and stored; see nullEmptyLists. */
export function writeAsStored(object: AnyObject, kind: Kind): void {
  if (!kind.isCustom) nullEmptyLists(object, kind.schemas, kind.schemaName)
}

export function setDefaults(object: AnyObject, kind: Kind): void {
  if (!kind.isCustom) setDeclaredDefaults(object, kind.schemas, kind.schemaName)
  kind.strategy.defaults?.(object)
}

function nameIn({ metadata }: Record<string, unknown>): string {
  return isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
}

function requireKind(
  object: Record<string, unknown>,
  {
    kind,
    sameVersions,
    isRegistered,
  }: Pick<DecodeRequest, 'kind' | 'sameVersions' | 'isRegistered'>,
): void {
  const { apiVersion, kind: given } = object
  const wanted = apiVersionOf(kind.group, kind.version)
  const givenKind = typeof given === 'string' ? given : ''
  const givenVersion = typeof apiVersion === 'string' ? apiVersion : ''
  if (kind.isCustom) requireGiven(givenKind, givenVersion)
  const asked = { version: givenVersion || wanted, kind: givenKind || kind.kind }
  const isAsServed = asked.version === wanted && asked.kind === kind.kind
  if (isAsServed) return
  if (asked.kind === kind.kind && sameVersions?.includes(asked.version)) return
  if (!kind.isCustom && !isRegistered(asked.version, asked.kind)) {
    const version = asked.version.slice(asked.version.indexOf('/') + 1)
    throw badRequest(
      `${asked.kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: no kind ${JSON.stringify(asked.kind)} is registered for version ${JSON.stringify(asked.version)} in scheme "pkg/runtime/scheme.go:111"`,
    )
  }
  if (kind.isCustom && givenKind !== kind.kind) {
    const cause = fieldInvalid('kind', givenKind, `must be ${kind.kind}`)
    throw invalid({ ...kind, kind: givenKind }, nameIn(object), [cause])
  }
  if (givenKind !== '' && givenKind !== kind.kind) {
    const version = givenVersion.slice(givenVersion.indexOf('/') + 1) || kind.version
    throw badRequest(
      `${givenKind} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: converting (${version}.${givenKind}) to (${kind.group === '' ? 'core' : kind.group.split('.')[0]}.${kind.kind}): unknown conversion`,
    )
  }
  if (givenVersion !== '' && givenVersion !== wanted) {
    throw badRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${wanted})`,
    )
  }
}

/** Nothing is assumed about a custom resource. */
function requireGiven(kind: string, apiVersion: string): void {
  const missing = kind === '' ? 'Kind' : apiVersion === '' ? 'apiVersion' : ''
  if (missing !== '') {
    throw badRequest(
      `the object provided is unrecognized: couldn't get version/kind; Object '${missing}' is missing`,
    )
  }
}
