import {
  checkDnsSubdomain,
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  type StatusCause,
} from '@skerry/api'
import type { CopiedFile, EdgeClusterSpec, Hook } from './edge-cluster.ts'

/** The places of the program on a machine: it writes them, and a cleaned machine has none of them. */
const ownPlaces = [
  '/etc/skerry',
  '/usr/local/bin/skerry',
  '/usr/local/lib/skerry',
  '/var/lib/skerry',
]

const moments = ['BeforeInstall', 'AfterInstall']

/** Returns everything that is wrong with the files and the scripts of a cluster. */
export function copyCauses({ files = [], hooks = [] }: Partial<EdgeClusterSpec>): StatusCause[] {
  return [
    ...files.flatMap((file, at) => fileCauses(`spec.files[${at}]`, file)),
    ...pathCauses(files),
    ...hooks.flatMap((hook, at) => hookCauses(`spec.hooks[${at}]`, hook)),
  ]
}

function fileCauses(field: string, { from, path, mode }: Partial<CopiedFile>): StatusCause[] {
  const causes: StatusCause[] = []
  const { configMap, secret, key } = from ?? {}
  if ((configMap === undefined) === (secret === undefined)) {
    causes.push(fieldRequired(`${field}.from`, 'exactly one of configMap and secret must be set'))
  } else {
    causes.push(...objectName(`${field}.from`, configMap ?? secret ?? ''))
  }
  causes.push(...keyCauses(`${field}.from.key`, key))
  if (!isCleanPath(path)) {
    const why = 'must be an absolute path without . and .. and special characters'
    causes.push(fieldInvalid(`${field}.path`, path, why))
  } else if (ownPlaces.some((place) => path === place || isBelow(path, place))) {
    const why = `must not be in a place of the program: ${ownPlaces.join(', ')}`
    causes.push(fieldInvalid(`${field}.path`, path, why))
  }
  if (mode !== undefined && !/^0?[0-7]{3}$/.test(mode)) {
    causes.push(fieldInvalid(`${field}.mode`, mode, 'must be three octal digits, such as 0644'))
  }
  return causes
}

function isCleanPath(path: string | undefined): path is string {
  if (path === undefined || path.length > 4_095 || !/^(\/[\w.+@:-]+)+$/.test(path)) return false
  return !path.split('/').some((part) => part === '.' || part === '..')
}

function isBelow(path: string, place: string): boolean {
  return path.startsWith(`${place}/`)
}

/** A path is one file, and no file is a directory of others. */
function pathCauses(files: readonly Partial<CopiedFile>[]): StatusCause[] {
  const paths = new Set(files.flatMap(({ path }) => path ?? []))
  const seen = new Set<string>()
  return files.flatMap(({ path = '' }, at) => {
    const field = `spec.files[${at}].path`
    if (seen.has(path)) return [fieldDuplicate(field, path)]
    seen.add(path)
    const above = parentsOf(path).find((each) => paths.has(each))
    if (above === undefined) return []
    return [fieldInvalid(field, path, `is below ${above}, which is a file of spec.files`)]
  })
}

function parentsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1, -1).map((_, at) => parts.slice(0, at + 2).join('/'))
}

function hookCauses(field: string, { when, configMap, key }: Partial<Hook>): StatusCause[] {
  const causes: StatusCause[] = []
  if (when === undefined || !moments.includes(when)) {
    causes.push(fieldNotSupported(`${field}.when`, when ?? '', moments))
  }
  causes.push(...objectName(`${field}.configMap`, configMap ?? ''))
  causes.push(...keyCauses(`${field}.key`, key))
  return causes
}

function objectName(field: string, name: string): StatusCause[] {
  return checkDnsSubdomain(name).map((why) => fieldInvalid(field, name, why))
}

function keyCauses(field: string, key: string | undefined): StatusCause[] {
  if (key === undefined || key === '') return [fieldRequired(field)]
  if (/^[-._a-zA-Z0-9]{1,253}$/.test(key)) return []
  return [fieldInvalid(field, key, 'must be a key of a ConfigMap or Secret')]
}
