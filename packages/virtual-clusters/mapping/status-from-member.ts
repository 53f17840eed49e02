import type { AnyObject, JsonObject } from '@skerry/api'
import { changeAt, ofText } from './change-at.ts'
import { groupKindOf } from './group-kind.ts'
import type { MemberNames } from './member-names.ts'
import { namespacePaths, statusNamespacePaths } from './namespace-paths-table.ts'

/** A status with the namespaces that its manifest names: a status speaks of what the manifest asked. */
export function statusFromMember(
  manifest: AnyObject,
  status: JsonObject,
  names: MemberNames,
): JsonObject {
  const paths = statusNamespacePaths[groupKindOf(manifest)] ?? []
  if (paths.length === 0) return status
  const { namespace = '' } = manifest.metadata
  const sent = new Map([[names.namespace(namespace), namespace]])
  for (const path of namespacePaths[groupKindOf(manifest)] ?? []) {
    changeAt(
      manifest,
      path,
      ofText((each) => {
        sent.set(names.namespace(each), each)
        return each
      }),
    )
  }
  return paths.reduce(
    (told, path) =>
      changeAt(
        told,
        path,
        ofText((each) => sent.get(each) ?? each),
      ),
    status,
  )
}
