import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../system-error.ts'

/** The name of our address plugin, as the network's configuration calls it. */
export const addressPlugin = 'skerry-address'

/** The plugins that the network's configuration calls, directly and through others. */
const systemPlugins = ['bridge', 'host-local', 'loopback', 'portmap']

export interface CniPlugins {
  /** The directory that containerd searches; it is on a disk, because a tmpfs may forbid execution. */
  directory: string
  /** The directory of the system's plugins. */
  systemDirectory: string
  /** Holds one directory per pod, named after its uid; it is removed with the pod. */
  podsDirectory: string
}

/** Fills the directory that containerd takes its plugins from: the system's, and our own. */
export async function writeCniPlugins(plugins: CniPlugins): Promise<void> {
  await mkdir(plugins.directory, { recursive: true, mode: 0o755 })
  for (const name of systemPlugins) {
    const link = join(plugins.directory, name)
    await symlink(join(plugins.systemDirectory, name), link).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
  }
  const path = join(plugins.directory, addressPlugin)
  const script = addressScript(plugins)
  const old = await readFile(path, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return ''
    throw error
  })
  if (old === script) return
  await writeFile(`${path}.new`, script, { mode: 0o755 })
  await rename(`${path}.new`, path)
}

/**
 * Returns a script around host-local: a pod that returns, after a reboot for example, requests its previous
 * address. While the control plane is unreachable, the services and names of this node, and of others, could
 * not learn a new one. It uses only shell builtins, because it runs for each pod.
 */
function addressScript({ systemDirectory, podsDirectory }: CniPlugins): string {
  return `#!/bin/sh
config=$(cat)
uid=\${CNI_ARGS##*K8S_POD_UID=}
uid=\${uid%%;*}
kept='${podsDirectory}/'$uid/address
plugin='${join(systemDirectory, 'host-local')}'
if [ "$CNI_COMMAND" != ADD ] || [ "$uid" = "$CNI_ARGS" ] || [ -z "$uid" ]; then
  printf '%s' "$config" | exec "$plugin"
  exit
fi
if [ -f "$kept" ]; then
  read -r address < "$kept"
  if result=$(printf '%s' "$config" | CNI_ARGS="$CNI_ARGS;IP=$address" "$plugin"); then
    printf '%s\\n' "$result"
    exit 0
  fi
fi
result=$(printf '%s' "$config" | "$plugin")
code=$?
printf '%s\\n' "$result"
[ $code -eq 0 ] || exit $code
address=\${result#*\\"address\\": \\"}
mkdir -p "\${kept%/*}" && printf '%s\\n' "\${address%%/*}" > "$kept"
exit 0
`
}
