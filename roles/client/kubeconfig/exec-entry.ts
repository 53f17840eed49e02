import type { JsonObject } from '@skerry/api'

/**
 * Returns a user's `exec` in a kubeconfig: `command` starts this program, `words` are its arguments. It uses
 * the version that every kubectl since 1.11 supports; v1 came with 1.22 and adds nothing.
 */
export function execEntry(
  [command = '', ...own]: readonly string[],
  words: readonly string[],
): JsonObject {
  return {
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    command,
    args: [...own, ...words],
    interactiveMode: 'IfAvailable',
    provideClusterInfo: false,
    installHint: 'skerry has written this; where the program has moved, let it write it again.',
  }
}
