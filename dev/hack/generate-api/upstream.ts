import { execFileSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** An OpenAPI v3 schema object as upstream publishes it; only the fields that we read. */
export interface OpenApiSchema {
  $ref?: string
  allOf?: OpenApiSchema[]
  oneOf?: OpenApiSchema[]
  type?: string
  format?: string
  properties?: Record<string, OpenApiSchema>
  required?: string[]
  additionalProperties?: OpenApiSchema
  items?: OpenApiSchema
  default?: unknown
  enum?: unknown[]
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[]
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: string[]
  'x-kubernetes-map-type'?: 'atomic' | 'granular'
  'x-kubernetes-patch-strategy'?: string
  'x-kubernetes-patch-merge-key'?: string
  'x-kubernetes-unions'?: {
    discriminator?: string
    'fields-to-discriminateBy'?: Record<string, string>
  }[]
}

/** A path of a document; only the operation that we read. */
export interface OpenApiPath {
  delete?: {
    responses: Record<string, { content?: Record<string, { schema: { $ref?: string } }> }>
  }
}

/** A metav1.APIResource as discovery lists it. */
export interface ApiResource {
  name: string
  singularName: string
  namespaced: boolean
  group?: string
  version?: string
  kind: string
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
  storageVersionHash?: string
}

export interface GroupVersionDocument {
  group: string
  version: string
  /** The definitions by upstream's name. */
  schemas: Record<string, OpenApiSchema>
  paths: Record<string, OpenApiPath>
  resources: ApiResource[]
}

export interface ApiGroupVersions {
  name: string
  versions: string[]
  preferredVersion: string
}

export interface UpstreamFacts {
  /** The groups in the order of upstream's discovery, without the core group. */
  groups: ApiGroupVersions[]
  documents: GroupVersionDocument[]
}

/** Returns the directory where the Go toolchain keeps the module, and downloads it if needed. */
export function findModule(version: string, module = 'k8s.io/kubernetes'): string {
  const text = execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], {
    encoding: 'utf8',
    cwd: '/',
  })
  // The go command documents this shape (go help mod download).
  const answer = JSON.parse(text) as { Dir?: string; Error?: string }
  if (answer.Dir === undefined) {
    throw new Error(`Cannot find ${module} ${version}: ${answer.Error ?? 'no directory'}`)
  }
  return answer.Dir
}

/** Reads OpenAPI and discovery documents of every group version; alpha versions are left out. */
export function readUpstream(moduleDir: string): UpstreamFacts {
  const apiDir = join(moduleDir, 'api')
  // The file holds a metav1.APIGroupList.
  const groupList = readJson(join(apiDir, 'discovery', 'apis.json')) as {
    groups: {
      name: string
      versions: { version: string }[]
      preferredVersion: { version: string }
    }[]
  }
  const groups = groupList.groups
    .map((group) => ({
      name: group.name,
      versions: group.versions.map((entry) => entry.version).filter(isServable),
      preferredVersion: group.preferredVersion.version,
    }))
    .filter((group) => group.versions.length > 0)
  const names = new Set(readdirSync(join(apiDir, 'discovery')))
  const documents = [readGroupVersion(apiDir, '', 'v1')]
  for (const group of groups) {
    for (const version of group.versions) {
      if (!names.has(`apis__${group.name}__${version}.json`)) continue
      documents.push(readGroupVersion(apiDir, group.name, version))
    }
  }
  return { groups, documents }
}

function readGroupVersion(apiDir: string, group: string, version: string): GroupVersionDocument {
  const stem = group === '' ? `api__${version}` : `apis__${group}__${version}`
  // The files hold an OpenAPI v3 document and a metav1.APIResourceList.
  const openApi = readJson(join(apiDir, 'openapi-spec', 'v3', `${stem}_openapi.json`)) as {
    paths: Record<string, OpenApiPath>
    components: { schemas: Record<string, OpenApiSchema> }
  }
  const discovery = readJson(join(apiDir, 'discovery', `${stem}.json`)) as {
    resources: ApiResource[]
  }
  const { paths, components } = openApi
  return { group, version, paths, schemas: components.schemas, resources: discovery.resources }
}

function isServable(version: string): boolean {
  return !version.includes('alpha')
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}
