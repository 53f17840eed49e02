import type { Mutant } from './mutant.ts'

const openPackage = 'packages/offline-package/open-package.test.ts'
const installPackage = 'roles/machine/install-package.test.ts'

/** The mutants of promises about offline packages, and about the fields by which machines are made and changed. */
export const mutants: readonly Mutant[] = [
  {
    proof: 'takes no hostile text, and the error names it',
    test: 'packages/provisioning/kind/hostile-fields.test.ts',
    only: 'takes no hostile text',
    file: 'packages/provisioning/kind/edge-cluster-checks.ts',
    find: 'if (path === undefined || path.length > 4_095 || !/^(\\/[\\w.+@:-]+)+$/.test(path)) return false',
    replace: "if (path === undefined || !path.startsWith('/')) return false",
  },
  {
    proof: 'no field of a job takes',
    test: 'packages/provisioning/kind/edge-job-checks.test.ts',
    only: 'no field of a job takes',
    file: 'packages/provisioning/kind/edge-job-checks.ts',
    find: 'const versionPattern = /^\\d{1,6}\\.\\d{1,6}\\.\\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,80})?$/',
    replace: 'const versionPattern = /^\\d/',
  },
  {
    proof: 'is found and named',
    test: openPackage,
    only: 'is found and named',
    file: 'packages/offline-package/bounded-file.ts',
    find: "if (hash.digest('hex') !== sha256)",
    replace: "if (hash.digest('hex') === '')",
  },
  {
    proof: 'cannot be a path or a command, even if the right key has signed it',
    test: openPackage,
    only: 'cannot be a path or a command',
    file: 'packages/offline-package/manifest.ts',
    find: 'version: z.string().regex(/^[0-9][0-9A-Za-z.+:~-]{0,127}$/),',
    replace: 'version: z.string(),',
  },
  {
    proof: 'the key of somebody else, an RSA key and a private key open nothing',
    test: openPackage,
    file: 'packages/offline-package/operator-key.ts',
    find: "return verify(null, bytes, key, Buffer.from(signature, 'base64'))",
    replace: 'return bytes.length > 0 && verify !== undefined && key !== undefined',
  },
  {
    proof:
      'a length that is declared too long or too short is found before the file is read to its end',
    test: openPackage,
    file: 'packages/offline-package/bounded-file.ts',
    find: 'if (seen !== bytes) {',
    replace: 'if (seen < 0) {',
  },
  {
    proof: 'is found before anything is installed',
    test: installPackage,
    only: 'is found before anything is installed',
    file: 'roles/machine/install-package.ts',
    find: 'checkBlobs(opened, [...blobsOfProgram(share.program), ...debs, ...images], signal)',
    replace: 'checkBlobs(opened, images.slice(0, blobsOfProgram.length - 1), signal)',
  },
  {
    proof: 'an older package is installed, and the machine says that it is older',
    test: installPackage,
    file: 'roles/machine/install-package.ts',
    find: 'isOlder(versionOf(opened.manifest), before.version)',
    replace: 'isOlder(before.version, versionOf(opened.manifest))',
  },
  {
    proof: 'a package of another key, for another system or that was changed ends the step',
    test: 'roles/hub/provisioning/package-for-machine.test.ts',
    file: 'roles/hub/provisioning/package-for-machine.ts',
    find: 'throw new StepError(error.message, { isFinal: true })',
    replace: 'throw new StepError(error.message)',
  },
]
