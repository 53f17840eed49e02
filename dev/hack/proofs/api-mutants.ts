import type { Mutant } from './mutant.ts'

/** The mutants of promises of packages/api and packages/cel, and of apiserver's answers to clients. */
export const mutants: readonly Mutant[] = [
  {
    proof:
      'stored bytes start with apiVersion, kind and metadata and never carry a resourceVersion',
    test: 'packages/bodies/encoding/encoding.test.ts',
    file: 'packages/bodies/encoding/canonical.ts',
    find: 'encodeSorted({ ...metadata, resourceVersion: undefined })',
    replace: 'encodeSorted(metadata)',
  },
  {
    proof: 'any object keeps its value through encoding, and equal objects are equal bytes',
    test: 'packages/bodies/encoding/encoding.test.ts',
    file: 'packages/bodies/encoding/canonical.ts',
    find: 'for (const [key, member] of entries.toSorted(byKey)) setMember(object, key, member)',
    replace: 'for (const [key, member] of entries) setMember(object, key, member)',
  },
]
