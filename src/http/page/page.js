// The first page: fills in this server's address, copies, tells readiness, and logs in. Runs under a strict
// content security policy, so there is no other script.
const demoAgent = '00000000-0000-4000-8000-000000000001'

const find = (id) => document.getElementById(id)

for (const code of document.querySelectorAll('pre code')) {
  code.textContent = code.textContent.replaceAll('{server}', location.origin).replaceAll('{agent}', demoAgent)
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.addEventListener('click', () => copy(button))
}

async function copy(button) {
  const code = find(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(code.textContent)
    find('said').textContent = 'Copied.'
    button.textContent = 'Copied'
  } catch {
    // Browsers give the clipboard to secure pages only (HTTPS, localhost): then the text is left selected.
    getSelection().selectAllChildren(code)
    button.textContent = 'Selected'
  }
  setTimeout(() => {
    button.textContent = 'Copy'
    find('said').textContent = ''
  }, 2000)
}

async function showReadiness() {
  const words = { ready: 'Ready', degraded: 'Ready, cache degraded', not_ready: 'Not ready', unknown: 'Unreachable' }
  const state = await fetch('/readyz')
    .then((answer) => answer.json())
    .then(({ status, checks }) => (status === 'ready' && checks.cache === 'degraded' ? 'degraded' : status))
    .catch(() => 'unknown')
  find('state').dataset.state = state
  find('state-text').textContent = words[state] ?? state
}

async function showLogin() {
  const answer = await fetch('/api/auth/status')
  if (!answer.ok) return
  const { authRequired, authenticated } = await answer.json()
  find('login').hidden = !authRequired || authenticated
  find('account').hidden = !authRequired || !authenticated
  if (authRequired && !authenticated && nextPath()) find('login-form').elements.username.focus()
  if (!find('account').hidden) {
    const me = await fetch('/api/auth/me').then((reply) => reply.json())
    find('account-name').textContent = me.username ?? ''
  }
}

/** Where `?next=` leads, when that is a place on this server. */
function nextPath() {
  const wanted = new URLSearchParams(location.search).get('next')
  if (!wanted?.startsWith('/')) return null
  const url = URL.parse(wanted, location.origin)
  return url?.origin === location.origin ? url.pathname + url.search + url.hash : null
}

find('login-form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.currentTarget
  const button = form.querySelector('button')
  const { username, password } = form.elements
  find('login-error').textContent = ''
  button.disabled = true
  try {
    const answer = await fetch('/api/auth/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: username.value, password: password.value }),
    })
    if (answer.ok) {
      const next = nextPath()
      if (next) return location.assign(next)
      form.reset()
      await showLogin()
    } else {
      find('login-error').textContent = await failure(answer)
      password.select()
    }
  } catch {
    find('login-error').textContent = 'The server cannot be reached.'
  } finally {
    button.disabled = false
  }
})

async function failure(answer) {
  const { message } = await answer.json().catch(() => ({}))
  const wait = answer.headers.get('retry-after')
  const said = message ?? `The server answered ${answer.status}.`
  return answer.status === 429 && wait && !said.includes(wait) ? `${said} Try again in ${wait} seconds.` : said
}

find('logout').addEventListener('click', async () => {
  await fetch('/api/auth/logout', { method: 'POST' }).catch(() => {})
  await showLogin()
})

showReadiness()
showLogin().catch(() => {})
