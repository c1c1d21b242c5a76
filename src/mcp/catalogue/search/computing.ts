/** Words of doing, of files, code and machines; a line is read as in `concepts.ts`. */
export const computing = `
create add make new insert | set_up setup open start begin spin_up put build generate establish register introduce draft scaffold provision compose we_need start_a put_in
delete remove drop erase destroy purge | get_rid rid wipe trash discard bin take_out throw_away clean_up nuke kill unregister take_down blow_away scrap ditch tear_down strip
update edit modify change alter patch revise amend | adjust rewrite fix correct replace tweak bump set turn rephrase swap overwrite reword touch_up
get retrieve fetch obtain read view show | look_up see look give display pull_up bring_up grab check tell what's let_me open print
list enumerate all | show_me every which what_are overview everything whatever
search find lookup query locate | look_for looking_for hunt where dig seek discover any_mention mentions
send post deliver | shoot fire_off drop_a dispatch forward tell let_know write_to ping submit
message chat dm text | note line tell say word
reply respond answer | get_back write_back
move relocate transfer | shift migrate put_under drag over_to
rename name title | call_it called retitle
copy duplicate clone replicate | same_again another_copy
move_file rename | rename_file
count number total amount how_many | tally many how_much
sum aggregate summarize average statistics stats | group breakdown per totals roll_up mean
sort order rank | top highest lowest best most biggest largest smallest cheapest latest newest
filter where condition criteria | only matching having whose older_than newer_than more_than less_than above below
compare difference diff | versus vs changed between side_by_side what_changed
merge combine join | squash bring_together unite land ship_it good_to_go
upload attach | put_up
download save export | grab pull_down keep_a_copy
import load ingest | bring_in
convert transform translate conversion | turn_into into change_to how_much_is
calculate compute evaluate | work_out figure_out math maths plus times divided solve
validate verify check | valid make_sure correct confirm is_it sane
run execute invoke trigger | kick_off fire start launch
start launch boot | fire_up turn_on power_up wake
stop halt terminate shutdown kill | end turn_off shut_down power_off quit abort
restart reboot reset | bounce again
cancel abort | call_off never_mind
schedule plan book reserve | set_up_a arrange pencil
enable activate | turn_on switch_on
disable deactivate | turn_off switch_off
lock freeze | nobody_can
invite add_member | bring_on_board onboard
assign assignee | hand give_to responsible owner put_on
approve accept review | lgtm looks_good sign_off ok thumbs_up good_to_go
reject decline deny | turn_down
close resolve complete finish | done wrap_up shut
reopen open | back_up
subscribe follow watch | keep_an_eye notify_me
archive | put_away shelve
restore recover undo revert rollback | bring_back get_back back_to
backup snapshot dump | safe_copy
compress zip archive gzip tar | shrink smaller pack
extract unzip decompress parse | unpack pull_out
encrypt cipher | protect scramble
decrypt | unscramble
hash checksum digest md5 sha256 | fingerprint
encode base64 encoding |
generate create produce | make_me
recommend suggest recommendation | ideas what_should similar
explain describe detail info information metadata properties about | details tell_me_about
history log logs | past earlier previous recent happened
status state health | up_and_running alive how_is working running going down
summary summarize overview abstract | gist tldr boil_down short_version sum_up
monitor metric metrics | track observe keep_track
analyze analysis inspect examine | look_into investigate
detect identify recognize recognition | spot
classify categorize label tag | mark
file document | log readme config script txt
directory folder path | in_here under
file content contents text | inside what's_in
tree hierarchy structure layout | nested
size bytes disk space storage | big large takes_up heavy
permission access rights role | allowed may can_see who_can
line lines head tail | first last beginning ending end
image picture photo img png jpeg jpg | pic snapshot screenshot drawing logo
video clip movie youtube | watch footage mp4
audio sound mp3 music | recording voice track listen song
speech voice tts | say_aloud speak read_aloud
transcribe transcript subtitle captions | what_was_said write_down
screenshot capture | what_it_looks_like
pdf document | paper
spreadsheet excel sheet xlsx csv workbook | table cells
cell range column row | a1
worksheet tab sheet |
chart graph plot diagram visualization | draw visualise pie bar_chart
presentation slides powerpoint pptx slide | deck
word docx document |
template boilerplate |
font color style format | bold
table grid |
branch fork | line_of_work
commit changeset revision | sha
push upload |
pull_request pr | merge_request patch proposal mr
issue ticket bug | problem defect report task
repository repo project codebase | code source
code source snippet program | function class
comment remark note annotation | say respond leave feedback
review feedback | look_over comments
label tag | mark
milestone release version | ship tag
release version tag |
workflow pipeline action ci build | job green red failing
deploy deployment release rollout | ship live production go_live
diff patch changes | what_changed
user account member person profile people | someone who somebody colleague everyone people teammate
team group organization | crew squad
organization company org | firm business
channel room conversation | #
thread replies conversation | discussion
reaction emoji | thumbs_up smiley
email mail message inbox gmail | mailbox letter
contact address_book people | phone_number
calendar event meeting appointment | schedule agenda free busy invite
reminder alarm notification | remind ping_me
notification alert push | let_me_know warn
task todo item | to_do chore job
project board workspace |
page article wiki document | notes doc
block paragraph content | section text heading
database db data_source | store
table collection relation |
collection collections |
document record row entry item |
index indexes indices | faster speed_up slow
schema structure fields columns definition | shape layout look_like kind_of_data
field property attribute column |
query sql select statement |
explain plan | slow why
transaction atomic |
connection connect session | hook_up link attach log_into
database collection |
cluster node shard |
user_role grant privilege |
cache redis key |
key value |
vector embedding semantic similarity | similar alike meaning
bucket s3 object blob storage |
server host machine instance vm | box
container docker pod |
image docker |
kubernetes k8s cluster pod namespace |
service daemon |
process pid task | program
cpu memory ram | load
network port socket |
dns domain nameserver record | resolve
ip address |
domain whois registrar | owner
ssl tls certificate | https
firewall rule | block
vulnerability cve security exploit | weakness hole
scan check |
malware virus threat |
password secret credential |
token api_key key |
login signin authenticate auth oauth | log_in sign_in
logout signout | log_out
register signup | sign_up
url link uri href | address http https www
website site webpage page web | online internet
browser tab page chrome |
navigate open visit go | go_to head_to
click press tap | hit button
type input fill enter |
form field input |
scroll swipe |
scrape crawl extract spider | pull_from
search web internet google bing | google online look_up
html markup dom |
markdown md |
json object |
xml feed rss |
yaml config configuration settings | options
environment variable env |
regex pattern match |
template render |
api endpoint request http |
webhook callback |
request call http |
response answer result |
error exception failure crash | broken fails wrong went_wrong
log logs logging trace |
test tests testing unit |
lint linter format | tidy_up
debug debugger breakpoint |
compile build |
package library dependency module npm pypi |
install setup |
docs documentation reference manual guide | how_to
`
