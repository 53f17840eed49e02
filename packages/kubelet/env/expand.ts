/**
 * Replaces $(NAME) by its value; $$ gives one $, and a name that is not known stays as it stands,
 * as Kubernetes documents for commands, arguments and environment values.
 */
export function expand(text: string, value: (name: string) => string | undefined): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (matched: string, name: string | undefined) =>
    matched === '$$' ? '$' : (value(name ?? '') ?? matched),
  )
}
