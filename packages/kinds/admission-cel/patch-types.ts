import { celTypes, objectType, type CelLibrary, type CelType, type ObjectType } from '@skerry/cel'

export const objectRoot = 'Object'
export const jsonPatchType = objectType('JSONPatch')

const { dyn, string } = celTypes

const jsonPatch: ObjectType = Object.freeze({
  fields: Object.freeze({
    op: { type: string },
    path: { type: string },
    from: { type: string },
    value: { type: dyn },
  }),
})

/** Any field may be set; applying the patch reveals whether the object has it. */
const anyField: ObjectType = Object.freeze({
  fields: new Proxy<Record<string, { type: CelType }>>(
    {},
    {
      get: (_target, name) => (typeof name === 'string' ? { type: dyn } : undefined),
      has: () => true,
      getOwnPropertyDescriptor: () => ({
        value: { type: dyn },
        enumerable: true,
        configurable: true,
        writable: false,
      }),
    },
  ),
})

/**
 * Returns types such as `Object`, `Object.spec`, `Object.spec.template`: there is one for each
 * path, so only those that the expression names are created.
 */
export function patchTypesIn(expression: string): Readonly<Record<string, ObjectType>> {
  const types: Record<string, ObjectType> = { JSONPatch: jsonPatch, [objectRoot]: anyField }
  for (const [name] of expression.matchAll(/\bObject(?:\s*\.\s*[A-Za-z_]\w*)+/g)) {
    types[name.replaceAll(/\s/g, '')] = anyField
  }
  return types
}

/** Adds `jsonpatch.escapeKey`, which converts a name to a segment of a JSON pointer. */
export const jsonPatchLibrary: CelLibrary = Object.freeze({
  name: 'kubernetes.jsonpatch',
  functions: Object.freeze([
    {
      name: 'jsonpatch.escapeKey',
      overloads: [
        {
          id: 'string_jsonpatch_escapeKey_string',
          parameters: [string],
          result: string,
          call: ([key]: readonly unknown[]) =>
            String(key).replaceAll('~', '~0').replaceAll('/', '~1'),
        },
      ],
    },
  ]),
})
