# What a shell reads when it starts, and what it runs at prompts: nothing of it may come from the host, and what
# is set here ends with the box.
[ -z "$BASH_ENV$ENV$PROMPT_COMMAND" ] || echo "ESCAPED: inherited"
declare -F | grep -q . && echo "ESCAPED: functions were inherited"
echo 'echo ESCAPED: .bashrc' > ~/.bashrc; cp ~/.bashrc ~/.profile; cp ~/.bashrc ~/.bash_profile
export BASH_ENV=~/.bashrc ENV=~/.bashrc PROMPT_COMMAND='echo x'
unset BASH_ENV ENV; bash --norc --noprofile -c true
for f in /etc/profile /etc/bash.bashrc /etc/environment /etc/ld.so.preload; do
    (echo x >> "$f") 2>/dev/null && echo "ESCAPED: wrote $f"
done
echo HELD
