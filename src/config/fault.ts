/** One thing that is wrong in the configuration, and where. Lines and columns count from 1. */
export interface ConfigProblem {
  readonly line: number
  readonly column: number
  /** Dotted path of the key, e.g. `servers.weather.tools`. Empty for the file as a whole. */
  readonly at: string
  readonly message: string
  readonly hint: string | undefined
  /** The line as it stands in the file, secrets left out. */
  readonly source: string
}

/** The configuration cannot be used. Nothing of it was put into force. */
export class ConfigFault extends Error {
  readonly code: 'CONFIG_INVALID' | 'CONFIG_MISSING'
  readonly file: string
  readonly problems: readonly ConfigProblem[]

  constructor(
    code: 'CONFIG_INVALID' | 'CONFIG_MISSING',
    file: string,
    problems: readonly ConfigProblem[],
    message?: string,
  ) {
    super(message ?? summary(file, problems))
    this.name = 'ConfigFault'
    this.code = code
    this.file = file
    this.problems = problems
  }

  get line(): number | undefined {
    return this.problems[0]?.line
  }
  get column(): number | undefined {
    return this.problems[0]?.column
  }
  get hint(): string | undefined {
    if (this.code === 'CONFIG_MISSING') return 'Make one with `countersign init`, or name it with --config FILE.'
    return this.problems[0]?.hint
  }
}

function summary(file: string, problems: readonly ConfigProblem[]): string {
  const first = problems[0]
  if (first === undefined) return `${file} cannot be used`
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return `${file}:${first.line}:${first.column}: ${first.at === '' ? '' : `${first.at}: `}${first.message}${more}`
}
