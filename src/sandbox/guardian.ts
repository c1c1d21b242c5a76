import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * Reads `+ GROUP` and `- GROUP` until its input ends, which it does with us, however we end. What is noted by then gets a second to
 * see the end of its own input, then SIGTERM, and a second later SIGKILL.
 */
const SCRIPT = `
groups=' '
while read -r sign group; do
  case "$sign" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
gone() {
  for n in 1 2 3 4 5 6 7 8 9 10; do
    left=''
    for group in $groups; do kill -0 "-$group" 2>/dev/null && left=1; done
    [ -z "$left" ] && exit 0
    sleep 0.1
  done
}
gone
for group in $groups; do kill -TERM "-$group" 2>/dev/null; done
gone
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
`

/**
 * One small process beside us that outlives us by two seconds. SIGKILL and a crash leave us no word, and Node cannot ask the
 * kernel to end children with their parent (prctl(2), PR_SET_PDEATHSIG); what even this one misses is ended at the next start.
 */
export class Guardian {
  readonly #groups = new Set<number>()
  #child: ChildProcess | undefined

  get pid(): number | undefined {
    return this.#child?.pid
  }

  add(group: number): void {
    this.#groups.add(group)
    if (this.#child === undefined) this.#start()
    else this.#say(`+ ${group}\n`)
  }

  delete(group: number): void {
    if (this.#groups.delete(group)) this.#say(`- ${group}\n`)
  }

  groups(): Iterable<number> {
    return this.#groups
  }

  #start(): void {
    // A group of its own, so that what ends ours from a terminal does not end it too.
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'countersign-guardian'], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      detached: true,
    })
    const lost = (): void => {
      if (this.#child === child) this.#child = undefined
    }
    child.once('error', lost).once('exit', lost)
    child.stdin.on('error', lost)
    child.unref()
    ;(child.stdin as Socket).unref()
    this.#child = child
    this.#say([...this.#groups].map((group) => `+ ${group}\n`).join(''))
  }

  #say(line: string): void {
    this.#child?.stdin?.write(line)
  }
}

/** That of this process; started with the first child. */
export const guardian = new Guardian()
