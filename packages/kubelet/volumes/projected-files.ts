import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Secret,
  Volume,
  VolumeProjection,
} from '@skerry/api'
import { containerResource } from '../env/container-resource.ts'
import { podField } from '../env/pod-field.ts'
import { findContainer, specOf } from '../pod/pod-spec.ts'
import { VolumeError, type VolumeContext } from './volume.ts'
import type { ProjectedFile } from './write-atomically.ts'

const modeDefault = 0o644
const tokenSecondsDefault = 3600

export interface Projection {
  files: ProjectedFile[]
  refreshAtMs?: number
}

type Source<Key extends keyof Volume> = NonNullable<Volume[Key]>

export function configMapFiles(source: Source<'configMap'>, context: VolumeContext): Projection {
  const { name = '', optional, items, defaultMode = modeDefault } = source
  const namespace = context.pod.metadata.namespace ?? ''
  const configMap = context.sources.configMap(namespace, name)
  if (!configMap && !optional) throw new VolumeError(`configmap "${name}" not found`)
  const what = `configmap references non-existent config key`
  return { files: pick(configMapData(configMap), { items, defaultMode, optional, what }) }
}

export function secretFiles(source: Source<'secret'>, context: VolumeContext): Projection {
  const { secretName = '', optional, items, defaultMode = modeDefault } = source
  const namespace = context.pod.metadata.namespace ?? ''
  const secret = context.sources.secret(namespace, secretName)
  if (!secret && !optional) throw new VolumeError(`secret "${secretName}" not found`)
  const what = `references non-existent secret key`
  return { files: pick(secretData(secret), { items, defaultMode, optional, what }) }
}

export function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  context: VolumeContext,
  defaultMode: number = modeDefault,
): Projection {
  const files = items.map((item) => ({
    path: item.path,
    mode: item.mode ?? defaultMode,
    content: Buffer.from(downwardValue(item, context)),
  }))
  return { files }
}

/** Collects the files; if several sources name the same path, the later one wins. */
export async function projectedFiles(
  source: Source<'projected'>,
  context: VolumeContext,
  signal: AbortSignal,
): Promise<Projection> {
  const defaultMode = source.defaultMode ?? modeDefault
  const parts: Projection[] = []
  for (const projection of source.sources ?? []) {
    parts.push(await projectedPart(projection, { context, defaultMode }, signal))
  }
  const files = new Map(parts.flatMap((part) => part.files.map((file) => [file.path, file])))
  const refreshes = parts.flatMap(({ refreshAtMs }) => refreshAtMs ?? [])
  return {
    files: [...files.values()],
    ...(refreshes.length > 0 ? { refreshAtMs: Math.min(...refreshes) } : {}),
  }
}

async function projectedPart(
  projection: VolumeProjection,
  { context, defaultMode }: { context: VolumeContext; defaultMode: number },
  signal: AbortSignal,
): Promise<Projection> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = projection
  if (configMap) return configMapFiles({ ...configMap, defaultMode }, context)
  if (secret) {
    const { name, ...rest } = secret
    return secretFiles({ ...rest, ...(name ? { secretName: name } : {}), defaultMode }, context)
  }
  if (downwardAPI) return downwardFiles(downwardAPI.items ?? [], context, defaultMode)
  if (serviceAccountToken) {
    return tokenFile(serviceAccountToken, { context, defaultMode }, signal)
  }
  throw new VolumeError(
    `projected volume source ${Object.keys(projection).join(', ')} is not supported by this node`,
  )
}

async function tokenFile(
  source: NonNullable<VolumeProjection['serviceAccountToken']>,
  { context, defaultMode }: { context: VolumeContext; defaultMode: number },
  signal: AbortSignal,
): Promise<Projection> {
  const { pod, sources } = context
  const { audience = '', expirationSeconds = tokenSecondsDefault, path } = source
  const issued = await sources.token({ pod, audience, expirationSeconds }, signal)
  const uid = commonUser(context)
  const isOwned = uid !== undefined || specOf(pod).securityContext?.fsGroup !== undefined
  return {
    files: [
      {
        path,
        content: Buffer.from(issued.token),
        mode: isOwned ? 0o600 : defaultMode,
        ...(uid === undefined ? {} : { uid }),
      },
    ],
    refreshAtMs: refreshTime(issued),
  }
}

const dayMs = 24 * 3_600_000

/** Returns the refresh time: after four fifths of its life, or a day. */
export function refreshTime(token: { issuedAtMs: number; expiresAtMs: number }): number {
  const lifeMs = token.expiresAtMs - token.issuedAtMs
  return token.issuedAtMs + Math.min(0.8 * lifeMs, dayMs)
}

/** The one user that every container runs as, if there is one. */
function commonUser({ pod }: VolumeContext): number | undefined {
  const spec = specOf(pod)
  const users = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  )
  const [first] = users
  return users.every((user) => user === first) ? first : undefined
}

type Data = ReadonlyMap<string, Uint8Array>

function configMapData(configMap: ConfigMap | undefined): Data {
  return new Map([
    ...Object.entries(configMap?.data ?? {}).map(
      ([key, text]) => [key, Buffer.from(text)] as const,
    ),
    ...Object.entries(configMap?.binaryData ?? {}).map(
      ([key, base64]) => [key, Buffer.from(base64, 'base64')] as const,
    ),
  ])
}

function secretData(secret: Secret | undefined): Data {
  return new Map(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')]),
  )
}

interface Selection {
  items: readonly KeyToPath[] | undefined
  defaultMode: number
  optional: boolean | undefined
  what: string
}

function pick(data: Data, { items, defaultMode, optional, what }: Selection): ProjectedFile[] {
  if (!items || items.length === 0) {
    return [...data].map(([path, content]) => ({ path, content, mode: defaultMode }))
  }
  return items.flatMap(({ key, path, mode = defaultMode }) => {
    const content = data.get(key)
    if (content) return { path, content, mode }
    if (optional) return []
    throw new VolumeError(`${what}: ${key}`)
  })
}

function downwardValue(item: DownwardAPIVolumeFile, context: VolumeContext): string {
  if (item.fieldRef) {
    const value = podField(item.fieldRef.fieldPath, context)
    if (value !== undefined) return value
    throw new VolumeError(`unsupported fieldPath: ${item.fieldRef.fieldPath}`)
  }
  const selector = item.resourceFieldRef
  const target = findContainer(context.pod, selector?.containerName ?? '')?.container
  const value = selector && target && containerResource(selector, target, context.allocatable)
  if (value !== undefined) return value
  throw new VolumeError(`unsupported container resource for "${item.path}"`)
}
