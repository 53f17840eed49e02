/**
 * The entry of the Worker. A bundle has no file of it; a plugin puts the thread's code here: see
 * dev/build/bundle-plugins.ts.
 */
export const yamlThreadEntry: { readonly file: URL } | { readonly code: string } = Object.freeze({
  file: new URL('./yaml-thread.ts', import.meta.url),
})
